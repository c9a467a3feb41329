"""Rank-based linkage: windows by the definition, and stronger than distances against swapping."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError, ParameterError

COLUMNS = ["age", "hours", "income", "taxes"]


def by_definition(before, after, window):
    """Candidates from sets of ranks: equal values share all their ranks."""
    n = len(before)
    inside = np.ones((n, n), dtype=bool)
    for c in range(before.shape[1]):
        ordered = np.sort(after[:, c])
        ranks = {v: np.flatnonzero(ordered == v) for v in np.unique(ordered)}
        for i in range(n):
            for j in range(n):
                gap = np.abs(ranks[before[i, c]][:, None] - ranks[after[j, c]][None]).min()
                inside[i, j] &= gap <= window
    return np.diag(inside) / np.maximum(inside.sum(axis=1), 1)


def frames(before, after):
    names = [f"x{c}" for c in range(before.shape[1])]
    original, released = (Microdata.of(pl.DataFrame(x, schema=names)) for x in (before, after))
    return original, released.numbered()


@given(st.integers(2, 25), st.integers(1, 3), st.sampled_from([3, 100]), st.integers(0, 1000))
def test_candidates_equal_the_definition(n, p, n_values, seed):
    rng = np.random.default_rng(seed)
    before = rng.integers(0, n_values, (n, p)).astype(float)
    after = rng.permuted(before, axis=0)
    found = risk.RankLinkage(p=20, choice="any").measure(*frames(before, after))
    expected = by_definition(before, after, max(int(0.2 * n), 1))
    np.testing.assert_allclose(found.per_unit, expected)


def test_the_own_record_is_always_a_candidate_of_the_right_window():
    data = tacit.datasets.census(300, missing=0.1)
    for p in (1, 8):
        release = tacit.Plan([mask.RankSwap(columns=COLUMNS, p=p)]).apply(data, seed=p)
        given_ = risk.RankLinkage(attributes=COLUMNS, p=p, choice="any").measure(data, release)
        assert given_.per_unit.min() > 0
        observed = risk.RankLinkage(attributes=COLUMNS, choice="any").measure(data, release)
        assert observed.value >= given_.value - 1e-12
        for name, window in observed.details["windows"].items():
            assert window <= given_.details["windows"][name]


def test_beats_distances_against_rank_swapping():
    data = tacit.datasets.census(500)
    gains = []
    for seed in range(4):
        release = tacit.Plan([mask.RankSwap(columns=COLUMNS, p=5)]).apply(data, seed=seed)
        by_rank = risk.RankLinkage(attributes=COLUMNS, p=5).measure(data, release).value
        by_distance = risk.DistanceLinkage(attributes=COLUMNS).measure(data, release).value
        gains.append(by_rank / by_distance)
    assert np.mean(gains) > 1.2


def test_the_better_choice_is_taken():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.RankSwap(columns=COLUMNS, p=5)]).apply(data, seed=1)
    for attributes in (["taxes"], COLUMNS):
        best, nearest, any_ = (
            risk.RankLinkage(attributes=attributes, choice=c).measure(data, release)
            for c in ("best", "nearest", "any")
        )
        assert best.value == max(nearest.value, any_.value)
        assert best.details["by_choice"] == {"nearest": nearest.value, "any": any_.value}


def test_falls_on_average_as_p_grows():
    data = tacit.datasets.census(300)
    values = [
        np.mean(
            [
                risk.RankLinkage(attributes=COLUMNS, p=p)
                .measure(
                    data, tacit.Plan([mask.RankSwap(columns=COLUMNS, p=p)]).apply(data, seed=s)
                )
                .value
                for s in range(4)
            ]
        )
        for p in (1, 5, 15, 40)
    ]
    assert all(a > b for a, b in pairwise(values)), values


def test_identity_and_constant():
    data = Microdata.of(pl.DataFrame({"a": np.arange(50.0), "b": np.arange(50.0)[::-1]}))
    assert risk.RankLinkage().measure(data).value == 1
    flat = data.with_arrays({"a": np.ones(50), "b": np.ones(50)}).numbered()
    assert risk.RankLinkage(choice="any").measure(data, flat).value == pytest.approx(1 / 50)


def test_a_window_that_is_too_narrow_misses_the_own_record():
    before = np.arange(20.0)[:, None]
    after = np.roll(before, 3, axis=0)
    found = risk.RankLinkage(p=5, choice="any").measure(*frames(before, after))
    assert found.value == 0
    assert risk.RankLinkage(choice="any").measure(*frames(before, after)).value > 0


def test_ordinal_values_have_ranks_and_nominal_ones_do_not():
    data = tacit.datasets.census(100)
    assert risk.RankLinkage(attributes=["education", "age"]).measure(data).value > 0
    with pytest.raises(DataError, match="no rank"):
        risk.RankLinkage(attributes=["region"]).measure(data)
    with pytest.raises(ParameterError, match="'p'"):
        risk.RankLinkage(p=0)


def test_a_column_that_is_wholly_suppressed_is_refused():
    data = tacit.datasets.census(30)
    blank = data.with_missing({"age": np.ones(30, dtype=bool)}).numbered()
    with pytest.raises(DataError, match="no value of 'age'"):
        risk.RankLinkage(attributes=["age"]).measure(data, blank)
