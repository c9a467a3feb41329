"""From options to a plan."""

import pytest

from tacit import tables
from tacit.cli.table_options import Cells, Protecting
from tacit.cli.table_plan import chosen_plan, columns, hierarchies, protection
from tacit.core.errors import ParameterError, ReadError, UnknownMethodError
from tacit.tables.table_plan import ReadyCells


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("region", ("region",)),
        ("region,nace", ("region", "nace")),
        (" 2019 , 2020", ("2019", "2020")),
        ('"a, b",c', ("a, b", "c")),
    ],
)
def test_columns(text, names):
    assert columns(text) == names


@pytest.mark.parametrize("text", ["a,a", ""])
def test_bad_columns(text):
    with pytest.raises(ParameterError):
        columns(text)


def test_a_protection_by_key_by_last_word_and_with_options():
    assert protection("suppress_modular", []) == tables.SuppressModular()
    assert protection("Optimal", []) == tables.SuppressOptimal()
    assert protection("random", ["base=5", "seed=3"]) == tables.RandomRounding(base=5, seed=3)
    assert protection("m3a", ["d=15"]) == tables.M3A(d=15)
    assert protection("collapse", ["ordered=size"]) == tables.Collapse(ordered=["size"])
    assert protection("collapse", ["ordered=a,b"]) == tables.Collapse(ordered=["a", "b"])
    with pytest.raises(UnknownMethodError):
        protection("mdav", [])
    with pytest.raises(ParameterError, match="twice"):
        protection("random", ["base=5", "base=6"])


def test_two_files_of_a_column_are_two_breakdowns(tmp_path):
    one, two = tmp_path / "one.hrc", tmp_path / "two.hrc"
    one.write_text("U\n@a\n@b\nV\n@c\n", encoding="utf-8")
    two.write_text("Y\n@a\n@c\nZ\n@b\n", encoding="utf-8")
    made = hierarchies([f"r={one}", f"r={two}"], "Total")
    assert len(made["r"].breakdowns[0]) == 2


def test_singletons_are_protected_or_left_out_not_both():
    line = Protecting(singletons=True, option=["singletons=false"])
    with pytest.raises(ParameterError, match="give one of the two"):
        chosen_plan(Cells(by=["r"]), line)
    made = chosen_plan(Cells(by=["r"]), Protecting(singletons=True)).plan
    assert made.method == tables.SuppressModular(singletons=True)


def test_apriori_files_are_named_in_the_plan_and_those_of_an_earlier_one_stay(tmp_path):
    one, two = tmp_path / "one.hst", tmp_path / "two.hst"
    one.write_text("N,u\n", encoding="utf-8")
    two.write_text("S,u\n", encoding="utf-8")
    made, files, _ = chosen_plan(Cells(by=["r"]), Protecting(apriori=[one]))
    assert files == (one,)
    assert [a.file for a in made.apriori] == ["apriori-1.hst"]
    dossier = tmp_path / "dossier"
    dossier.mkdir()
    (dossier / "plan.toml").write_text(made.to_toml(), encoding="utf-8")
    (dossier / "apriori-1.hst").write_bytes(one.read_bytes())
    again = chosen_plan(Cells(), Protecting(plan=dossier / "plan.toml", apriori=[two]))
    assert again.files == (dossier / "apriori-1.hst", two)
    assert [a.file for a in again.plan.apriori] == ["apriori-1.hst", "apriori-2.hst"]
    with pytest.raises(ReadError, match="no such file"):
        chosen_plan(Cells(by=["r"]), Protecting(apriori=[tmp_path / "none.hst"]))


def test_what_the_data_bring_can_be_left_out():
    made = chosen_plan(Cells(by=["r"], weight="none", holding="none"), Protecting()).plan
    assert (made.weights, made.weighted, made.holding) == (None, False, None)


def test_ready_cells_are_part_of_the_plan():
    cells = Cells(by=["r"], value="x", ready=True, count="n", largest="a,b", status="s")
    made = chosen_plan(cells, Protecting(rule="p(10)")).plan
    assert made.ready == ReadyCells(count="n", largest=("a", "b"), status="s")


def test_the_options_become_a_plan():
    cells = Cells(by=["r,s"], value="x", weight="w", holding="h", unit="u")
    given = Protecting(rule="p(10)", method="cell-key", record_keys="k1,k2")
    made, files, last = chosen_plan(cells, given)
    assert (files, last) == ((), {})
    assert made.by == (("r", "s"),)
    assert (made.weights, made.holding, made.unit, made.keys) == ("w", "h", "u", ("k1", "k2"))
    assert made.rule == tables.PPercent(p=10)
