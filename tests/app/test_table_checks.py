"""A plan that lacks a column, or names one in vain, is refused before any work is done."""

import pytest

from tacit import tables
from tacit.app.table_checks import check_plan
from tacit.core.errors import ParameterError


def _plan(**more):
    given = {"by": [["region"]], "value": "x", "rule": "p(10)", "method": tables.SuppressModular()}
    return tables.TablePlan(**(given | more))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"unit": "id", "holding": "h"},
        {"holding": "h", "rule": "p(10,level=holding)&freq(3)"},
        {"request": "r", "rule": "freq(3)|request(70)"},
        {"shadow": "y"},
        {"cost": "y", "method": tables.SuppressModular(cost="user")},
        {"value": None, "rule": None, "keys": ["rk1"], "method": tables.CellKey()},
    ],
)
def test_what_fits_together_is_taken(more):
    check_plan(_plan(**more))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rule": "freq(3)|p(10,level=holding)"}, "p.*level=holding.*choose the column of the hol"),
        ({"rule": "(freq(3)|request(70))&p(10)"}, "no column says who asks"),
        ({"request": "r"}, "no rule looks at who asks"),
        ({"shadow": "y", "value": None, "rule": "freq(3)"}, "needs a column to add up"),
        ({"shadow": "y", "rule": None}, "needs a rule"),
        ({"value": None, "method": tables.CellKey()}, "needs columns of secret record keys"),
        ({"method": tables.CellKeyMagnitude()}, "needs columns of secret record keys"),
        ({"keys": ["rk1"]}, "looks at no record keys"),
        ({"cost": "y"}, "does not look at the column of costs"),
        ({"cost": "y", "method": tables.RandomRounding(base=5)}, "Random rounding does not look"),
    ],
)
def test_what_lacks_a_column_or_has_one_in_vain_is_refused(more, said):
    with pytest.raises(ParameterError, match=said):
        check_plan(_plan(**more))
