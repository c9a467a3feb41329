"""Values worked out by hand in source.md."""

import math

import polars as pl
import pytest

from tacit import utility


def records(n11, n12, n21, n22):
    cells = [("x", "u")] * n11 + [("x", "v")] * n12 + [("y", "u")] * n21 + [("y", "v")] * n22
    return pl.DataFrame(cells, schema=["a", "b"], orient="row")


BEFORE, AFTER = records(40, 10, 10, 40), records(30, 20, 20, 30)


def test_no_swap_gives_0():
    for criterion in ("aic", "bic"):
        measure = utility.LogLinearUtility(criterion=criterion)
        assert measure.measure(BEFORE, BEFORE).value == 0.0


def test_change_of_the_log_likelihood():
    found = utility.LogLinearUtility().measure(BEFORE, AFTER)
    pre = 80 * math.log(0.4) + 20 * math.log(0.1)
    assert found.details["generators"] == [["a", "b"]]
    assert found.details["log_likelihood"] == pytest.approx(pre)
    post = 60 * math.log(0.3) + 40 * math.log(0.2)
    assert found.value == pytest.approx(post - pre)
    fixed = utility.LogLinearUtility(likelihood="fitted").measure(BEFORE, AFTER)
    assert fixed.value == pytest.approx(-20 * math.log(4))


def test_independent_variables_lose_nothing_by_swapping():
    flat = records(25, 25, 25, 25)
    found = utility.LogLinearUtility().measure(flat, records(30, 20, 20, 30))
    assert found.details["generators"] == [["a"], ["b"]]
    assert found.value == 0.0
