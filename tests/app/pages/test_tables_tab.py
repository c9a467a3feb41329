"""The plan that the form of a table makes of what is chosen and written in it."""

from types import SimpleNamespace

import pytest

from tacit.core.errors import ParameterError
from tacit.tables import TablePlan

ui = pytest.importorskip("nicegui").ui
tables_tab = pytest.importorskip("tacit.app.pages.tabs.tables_tab")

COLUMNS = {
    "person": ("text", "identifier"),
    "firm": ("nominal", ""),
    "region": ("nominal", "key"),
    "sex": ("nominal", "key"),
    "age": ("numeric", "key"),
    "income": ("numeric", "confidential"),
    "rk1": ("numeric", "identifier"),
    "w": ("numeric", "weight"),
}
CODES = {"region": ["N1", "N2", "S"], "sex": ["f", "m"], "age": ["1", "2"]}


@pytest.fixture
def form():
    """The form of a project, drawn for nobody."""
    from nicegui import Client
    from nicegui.page import page

    projects = SimpleNamespace(
        codes=lambda _actor, _project, column: CODES[column],
        whole_numbers=lambda _actor, _project: ["age", "rk1", "w"],
    )
    visitor = SimpleNamespace(parts=SimpleNamespace(projects=projects), actor=None)
    columns = [
        {"name": name, "kind": kind, "roles": [role] if role else []}
        for name, (kind, role) in COLUMNS.items()
    ]
    with Client(page("/"), request=None):
        made = tables_tab._Form(visitor, "p", {"data": {"name": "x.csv"}, "columns": columns})
        made.draw()
        made.by.set_value(["region", "sex"])
        yield made


def test_what_is_left_alone_is_left_to_the_library(form):
    """Records with gaps are refused, weights count, and nothing else is said of the records."""
    assert form._plan() == {
        "by": [["region", "sex"]], "value": None, "rule": "freq(3)",
        "method": {"method": "suppress-modular", **form._plan()["method"]}, "hierarchies": {},
    }  # fmt: skip
    made = TablePlan(**form._plan())
    assert (made.missing, made.missing_value, made.weighted) == ("error", "error", True)


def test_all_that_the_records_say_goes_into_the_plan(form):
    form.value.set_value("income")
    form.rule.set_value("p(10,level=holding)|request(70)")
    records = form.records
    chosen = {"unit": "person", "holding": "firm", "request": "sex", "shadow": "age"}
    for name, column in chosen.items():
        records.fields[name].set_value(column)
    records.weighted.set_value(False)
    records.missing.set_value("own category")
    records.missing_value.set_value("drop")
    plan = form._plan()
    assert chosen.items() <= plan.items()
    expected = {"weighted": False, "missing": "own category", "missing_value": "drop"}
    assert expected.items() <= plan.items()
    (script, _), (toml, _) = form._script()
    assert 'holding="firm"' in script
    assert "weighted=False" in script
    assert TablePlan.from_toml(toml) == TablePlan(**plan)


def test_only_columns_that_can_be_used_are_offered(form):
    """Identifiers may name a respondent, for that is not published; they span no table."""
    offered = {name: field.options for name, field in form.records.fields.items()}
    assert offered["unit"] == offered["holding"] == [c for c in COLUMNS if c != "w"]
    assert "person" not in offered["request"]
    assert offered["shadow"] == offered["cost"] == ["age", "income"]
    assert form.records.key_columns.options == ["age", "rk1"]
    assert "person" not in form.by.options
    assert list(form.value.options) == ["", "age", "income"]


def test_further_tables_are_linked_and_have_hierarchies_of_their_own(form):
    assert list(form.groups) == ["region", "sex"]
    form.further.set_value("region, age\nage")
    assert list(form.groups) == ["region", "sex", "age"]
    form.groups["region"].set_value("N = N1, N2")
    form.groups["age"].set_value("all = 1, 2")
    plan = form._plan()
    assert plan["by"] == [["region", "sex"], ["region", "age"], ["age"]]
    assert list(plan["hierarchies"]) == ["region", "age"]
    form.further.set_value("region, person")
    with pytest.raises(ParameterError, match="no column 'person' can span"):
        form._plan()
    form.further.set_value("")
    assert list(form.groups) == ["region", "sex"]
    assert list(form._plan()["hierarchies"]) == ["region"]


def test_cell_key_methods_are_offered_only_with_record_keys(form):
    assert "cell-key" not in form.method.options
    form.records.key_columns.set_value(["rk1"])
    assert "cell-key" in form.method.options
    with pytest.raises(ParameterError, match="looks at no record keys"):
        form._plan()
    form.method.set_value("cell-key")
    plan = form._plan()
    assert (plan["keys"], plan["method"]["method"]) == (["rk1"], "cell-key")
    form.records.key_columns.set_value([])
    assert form.method.value == "suppress-modular"
    assert form._plan()["method"]["method"] == "suppress-modular"


def test_a_rule_on_holdings_needs_a_holding(form):
    form.value.set_value("income")
    form.rule.set_value("p(10,level=holding)")
    with pytest.raises(ParameterError, match="choose the column of the holding"):
        form._plan()
    form.records.fields["holding"].set_value("firm")
    assert form._plan()["holding"] == "firm"


def test_weights_are_spoken_of_where_there_are_some(form):
    assert form.records.weighted.visible
    assert form.records.weighted.text == "Each record counts with its weight (w)"
    with form.by.client:
        bare = tables_tab.TableRecords([c for c in form.about["columns"] if c["name"] != "w"], [])
        bare.draw()
    assert not bare.weighted.visible
    assert bare.chosen() == {}
