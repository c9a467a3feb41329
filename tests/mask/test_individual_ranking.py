"""Microaggregation of one variable at a time: optimal groups, and their limits."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.mask._ordered import groups_in_order


def sse(values, groups):
    return sum(((values[groups == g] - values[groups == g].mean()) ** 2).sum() for g in set(groups))


def least_sse(values, k):
    """Try every way to cut the sorted values into runs of k or more."""
    ordered, n = np.sort(values), len(values)
    best = np.inf
    for n_cuts in range(n // k):
        for cuts in itertools.combinations(range(k, n - k + 1), n_cuts):
            edges = [0, *cuts, n]
            if min(np.diff(edges)) >= k:
                parts = [ordered[a:b] for a, b in itertools.pairwise(edges)]
                best = min(best, sum(((p - p.mean()) ** 2).sum() for p in parts))
    return best


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=4, max_size=12), st.integers(2, 4))
def test_groups_are_optimal_by_trying_all(numbers, k):
    values = np.array(numbers, dtype=float)
    groups = groups_in_order(values, k, optimal=True)
    assert sse(values, groups) == pytest.approx(least_sse(values, k), abs=1e-9)
    assert np.bincount(groups).min() >= k


def test_optimal_is_never_worse_than_groups_of_k_in_turn():
    values = np.random.default_rng(0).lognormal(size=1001)
    fixed = groups_in_order(values, 5, optimal=False)
    assert set(np.bincount(fixed)) == {5, 6}
    assert sse(values, groups_in_order(values, 5, optimal=True)) < sse(values, fixed)


def test_digits_survive_a_large_offset():
    values = 1e9 + np.array([0.0, 0.001, 0.002, 5.0, 5.001, 5.002])
    groups = groups_in_order(values, 3, optimal=True)
    assert len(set(groups[:3])) == 1
    assert groups[0] != groups[3]


@pytest.mark.parametrize("optimal", [True, False])
def test_a_breaker_finds_no_released_value_held_by_fewer_than_k(optimal):
    data = tacit.datasets.census(500, missing=0.05)
    method = mask.IndividualRanking(columns=["income", "hours"], k=4, optimal=optimal)
    frame = tacit.Plan([method]).apply(data, seed=1).frame
    for column in ("income", "hours"):
        assert frame[column].drop_nulls().value_counts()["count"].min() >= 4
        assert frame[column].null_count() == data.frame[column].null_count()


def test_fewer_known_values_than_k_are_blanked_and_short_files_refused():
    table = pl.DataFrame({"x": [1.0, None, None, None]})
    assert (
        tacit.Plan([mask.IndividualRanking(columns=["x"], k=3)])
        .apply(table)
        .frame["x"]
        .null_count()
        == 4
    )
    with pytest.raises(DataError, match="k = 3"):
        tacit.Plan([mask.IndividualRanking(columns=["x"], k=3)]).apply(table.head(2))
