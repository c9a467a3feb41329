"""The user's own rule: named cells, or a quantity that passes a limit."""

import json

import pytest

from tacit import tables
from tacit.core.errors import ParameterError, SchemaError


def test_cells_by_codes(small):
    rule = tables.UserRule(cells=[{"region": "S", "size": ["1", "2"]}, {"size": "3"}], margin=10)
    found = rule.sensitive(small)
    assert sorted(small.value[found.primary]) == [8, 19, 32]
    assert found.above[small.cell(size="3")] == pytest.approx(3.2)
    assert tables.UserRule(**json.loads(json.dumps(rule.as_dict()))) == rule


def test_all_codes_of_a_dimension(small):
    assert len(tables.UserRule(cells=[{"region": "S", "size": None}]).sensitive(small)) == 4


@pytest.mark.parametrize(
    ("comparison", "values"),
    [("<", [8]), ("<=", [8, 10]), (">", [129]), (">=", [80, 129]), ("==", [10]), ("!=", None)],
)
def test_a_quantity_and_a_limit(small, comparison, values):
    limit = 80 if comparison in (">", ">=") else 10
    rule = tables.UserRule(quantity="value", is_=comparison, limit=limit)
    found = sorted(small.value[rule.sensitive(small).primary])
    assert found == (values if values is not None else sorted(v for v in small.value if v != 10))


def test_other_sums_of_the_table(small):
    table = small.replace(sums={"flag": (small.value < 20).astype(float)})
    rule = tables.UserRule(quantity="flag", is_=">", limit=0)
    assert sorted(table.value[rule.sensitive(table).primary]) == [8, 10, 19]
    with pytest.raises(SchemaError, match="no quantity 'flg'; did you mean 'flag'"):
        tables.UserRule(quantity="flg").sensitive(table)


def test_empty_cells_do_not_pass_a_limit(full_table):
    from tacit.tables import Dimension

    table = full_table([0, 3], Dimension.flat("r", "ab"))
    rule = tables.UserRule(quantity="value", is_="<", limit=2)
    assert len(rule.sensitive(table)) == 0


def test_nothing_asked_is_refused(small):
    with pytest.raises(ParameterError, match="needs cells or a quantity"):
        tables.UserRule()
    with pytest.raises(SchemaError, match="no code 'W'"):
        tables.UserRule(cells=[{"region": "W"}]).sensitive(small)


def test_short_form():
    assert tables.UserRule(quantity="count", is_="<", limit=3).short() == "user(count,<,3)"
    assert tables.UserRule(cells=[{"region": "N"}]).short() == "user"
