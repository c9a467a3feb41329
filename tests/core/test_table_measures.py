"""What a table lost: (6) to (8) of M3A by hand, rank tests, suppressed cells."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tacit.core.errors import DataError, ParameterError
from tacit.core.table_measures import (
    cramers_v,
    cramers_v_change,
    entropy_change,
    fill_suppressed,
    rank_tests,
    variance_change,
)

ORIGINAL = [[20, 30, 50], [60, 30, 10]]
RELEASED = [[25, 25, 50], [60, 20, 20]]

tables = arrays(float, (3, 4), elements=st.integers(0, 50).map(float))


@given(tables)
def test_identical_tables_have_lost_nothing(table):
    """Oracle: identical tables give 0, 0, 0."""
    assert entropy_change(table, table) == 0
    assert variance_change(table, table) == 0
    assert cramers_v_change(table, table) == 0
    assert rank_tests(table, table).tolist() == pytest.approx([1.0] * 3)
    assert rank_tests(table, table, by="columns").tolist() == pytest.approx([1.0] * 4)


def test_entropy_by_hand():
    def h(*shares):
        return -sum(p * math.log(p) for p in shares)

    before = h(0.2, 0.3, 0.5) + h(0.6, 0.3, 0.1)
    after = h(0.25, 0.25, 0.5) + h(0.6, 0.2, 0.2)
    assert entropy_change(ORIGINAL, RELEASED) == pytest.approx(100 * (after - before) / before)


def test_a_row_without_mass_has_no_entropy_and_a_certain_original_can_only_lose():
    assert entropy_change([[1, 1], [0, 0]], [[1, 1], [0, 0]]) == 0
    assert entropy_change([[1, 0]], [[1, 1]]) == math.inf
    assert entropy_change([[1, 1]], [[1, 0]]) == -100


def test_variance_by_hand():
    # rows: mean 100/3 both; squares 20, 30, 50 -> 233.33 and 60, 30, 10 -> 633.33
    before = 700 / 3 + 1900 / 3
    # 25, 25, 50 -> 208.33 and 60, 20, 20 -> 533.33
    after = 625 / 3 + 1600 / 3
    assert variance_change(ORIGINAL, RELEASED) == pytest.approx(100 * (after - before) / before)


def test_cramers_v_by_hand_and_by_scipy():
    # margins 100, 100 and 80, 60, 60: expected 40, 30, 30 in both rows
    chi_square = 2 * (20**2 / 40 + 0 / 30 + 20**2 / 30)
    assert cramers_v(ORIGINAL) == pytest.approx(math.sqrt(chi_square / 200))
    other = stats.contingency.association(np.array(ORIGINAL), method="cramer")
    assert cramers_v(ORIGINAL) == pytest.approx(other)


@given(tables)
def test_cramers_v_agrees_with_scipy_where_it_is_defined(table):
    full = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(full.shape, default=0) < 2:
        assert math.isnan(cramers_v(table))
        return
    expected = stats.contingency.association(full.astype(int), method="cramer")
    assert cramers_v(table) == pytest.approx(float(expected), abs=1e-9)


def test_lost_association():
    assert cramers_v_change([[9, 0], [0, 9]], [[9, 9], [0, 0]]) == -100, "one row is left"
    assert cramers_v_change([[5, 5], [5, 5]], [[9, 1], [1, 9]]) == math.inf


def test_reading_by_columns_is_reading_the_table_on_its_side():
    turned = np.transpose(ORIGINAL), np.transpose(RELEASED)
    for measure in (entropy_change, variance_change):
        assert measure(ORIGINAL, RELEASED, by="columns") == measure(*turned)
    by_columns = rank_tests(ORIGINAL, RELEASED, by="columns")
    assert by_columns.tolist() == rank_tests(*turned).tolist()


def test_rank_tests_agree_with_scipy_and_see_a_shift():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(5, 30))
    after = before + np.array([0, 0, 0, 0, 3])[:, None]
    p = rank_tests(before, after)
    expected = stats.mannwhitneyu(before[4], after[4], method="asymptotic").pvalue
    assert p[4] == pytest.approx(expected)
    assert p[4] < 1e-6
    assert p[:4].tolist() == pytest.approx([1.0] * 4)


def test_rank_test_by_hand():
    # ranks 1, 2 against 3, 4: U = 0, mean 2, variance 2*2*5/12, continuity 1/2
    z = (2 - 0.5) / math.sqrt(2 * 2 * 5 / 12)
    assert rank_tests([[1, 2]], [[3, 4]])[0] == pytest.approx(2 * stats.norm.sf(z))


def test_suppressed_cells_are_filled_so_that_columns_add_up():
    released = [[20.0, np.nan, 50.0], [60.0, np.nan, np.nan]]
    filled = fill_suppressed(ORIGINAL, released)
    assert filled.tolist() == [[20, 30, 50], [60, 30, 10]]
    assert np.isnan(released[0][1]), "the table that was given is left as it is"
    assert filled.sum(axis=0).tolist() == np.sum(ORIGINAL, axis=0).tolist()


@pytest.mark.parametrize(
    ("original", "released", "message"),
    [
        ([[1, 2]], [[1, 2, 3]], "same cells"),
        ([1, 2], [1, 2], "rows and columns"),
        ([[1, np.nan]], [[1, 2]], "fill_suppressed"),
        ([[1, 2]], [[1, np.inf]], "finite"),
        ([[1, -2]], [[1, 2]], "0 or above"),
    ],
)
def test_tables_that_do_not_compare_are_refused(original, released, message):
    with pytest.raises(DataError, match=message):
        entropy_change(original, released)


def test_bad_words_and_too_few_cells():
    with pytest.raises(ParameterError, match="rows or by columns"):
        entropy_change([[1]], [[1]], by="cells")
    with pytest.raises(DataError, match="two cells"):
        variance_change([[1]], [[1]])
    assert variance_change([[-1, 1]], [[-1, 1]]) == 0, "cells below 0 have a variance"
