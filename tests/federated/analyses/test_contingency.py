"""Contingency tables."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tacit.core.errors import ParameterError
from tacit.federated import StoppedError, simulate

LEVELS = {"sex": ["m", "f"], "event": ["0", "1"]}


def test_the_table_is_the_pooled_one(five):
    answer = simulate(five, "contingency", levels=LEVELS)
    pooled = pl.concat(five.values())
    expected = [
        [len(pooled.filter((pl.col("sex") == s) & (pl.col("event") == e))) for e in (0, 1)]
        for s in "mf"
    ]
    assert answer["counts"] == expected
    test = stats.chi2_contingency(np.array(expected), correction=False)
    assert answer["chi_squared"] == pytest.approx(test.statistic)
    assert answer["p_value"] == pytest.approx(test.pvalue)


def test_a_small_cell_of_one_agency_is_refused():
    parts = [pl.DataFrame({"s": ["a"] * 20 + ["b"] * n}) for n in (9, 9, 2)]
    with pytest.raises(StoppedError, match="agency-3: the table of this agency"):
        simulate(parts, "contingency", levels={"s": ["a", "b"]})


def test_missing_values_are_left_out_and_empty_cells_stay():
    parts = [pl.DataFrame({"s": ["a"] * 20 + [None] * 5}) for _ in range(3)]
    answer = simulate(parts, "contingency", levels={"s": ["a", "b"]})
    assert answer["counts"] == [60, 0]


def test_a_category_that_was_not_agreed_is_refused_without_being_told():
    parts = [pl.DataFrame({"s": ["a"] * 20 + ["geheim"] * 5}) for _ in range(3)]
    with pytest.raises(StoppedError, match="not agreed") as stopped:
        simulate(parts, "contingency", levels={"s": ["a", "b"]})
    assert "geheim" not in str(stopped.value)


@pytest.mark.parametrize("levels", [{}, {"s": []}, {"s": ["a", "a"]}], ids=str)
def test_bad_levels_are_refused(levels, parts):
    with pytest.raises(ParameterError):
        simulate(parts, "contingency", levels=levels)
    many = [str(i) for i in range(1001)]
    with pytest.raises(ParameterError, match="1,000,000 cells"):
        simulate(parts, "contingency", levels={"a": many, "b": many})
