"""Sums over near neighbours, against looking at every pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.risk._neighbours import distinct_rows, near_totals

_FACTORS = np.exp(-0.5 * (np.arange(6) / 2) ** 2)


def looped(targets, records, weights):
    distance = np.abs(targets[:, None, :] - records[None, :, :])
    factor = np.where(distance < len(_FACTORS), _FACTORS[distance.clip(max=5)], 0.0)
    return factor.prod(axis=2) @ weights


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 4), st.integers(1, 120), st.integers(1, 200), st.integers(1, 60), st.integers()
)
def test_totals_equal_the_sum_over_all_pairs(n_columns, n_targets, n_records, width, seed):
    rng = np.random.default_rng(abs(seed))
    targets = rng.integers(0, width, (n_targets, n_columns))
    records = rng.integers(0, width, (n_records, n_columns))
    weights = rng.uniform(0, 2, n_records)
    found = near_totals(targets, records, weights, _FACTORS)
    np.testing.assert_allclose(found, looped(targets, records, weights), rtol=1e-9, atol=1e-12)


def test_wide_coordinates_and_many_columns():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2**40, (200, 9))
    records = targets + rng.integers(-3, 4, targets.shape).clip(0)
    weights = np.ones(200)
    found = near_totals(targets, records, weights, _FACTORS)
    np.testing.assert_allclose(found, looped(targets, records, weights))
    assert found.min() > 0


def test_no_records_agree_with_nobody():
    empty = np.empty((0, 2), dtype=np.int64)
    assert near_totals(np.zeros((3, 2), np.int64), empty, np.empty(0), _FACTORS).tolist() == [0] * 3
    assert near_totals(empty, np.zeros((3, 2), np.int64), np.ones(3), _FACTORS).tolist() == []


def test_distinct_rows_rebuild_the_rows():
    rows = np.random.default_rng(0).integers(-1, 2, (50, 3))
    distinct, ids = distinct_rows(rows)
    np.testing.assert_array_equal(distinct[ids], rows)
    assert len(distinct) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize("relative", [True, False])
def test_denominators_may_be_left_out_only_where_they_cancel(relative):
    from tacit.risk._external import KnownField
    from tacit.risk._probability_ratios import RatioModel

    field = KnownField("x", np.array([0, 0, 1]), np.array([0, 0, 1]))
    index = np.arange(3)
    found = RatioModel([field], None, "joint", relative=relative).ratios(index, index)
    np.testing.assert_allclose(found.own / found.total, [0.5, 0.5, 1])
    assert found.own.tolist() == pytest.approx([1, 1, 1] if relative else [1.5, 1.5, 3])
