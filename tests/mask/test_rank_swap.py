"""Rank swapping: same values as a whole, never farther in rank than said."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError
from tacit.mask.rank_swap import swap_positions


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 300), st.floats(0.001, 1.0), st.integers(0, 999))
def test_a_swap_is_its_own_inverse_and_stays_in_the_window(n, share, seed):
    source = swap_positions(n, share, np.random.default_rng(seed))
    assert np.array_equal(source[source], np.arange(n))
    assert np.abs(source - np.arange(n)).max() <= max(int(share * n), 1)


def test_almost_every_value_is_swapped_and_distances_spread_over_the_window():
    source = swap_positions(100_000, 0.1, np.random.default_rng(0))
    moved = np.abs(source - np.arange(100_000))
    assert (moved > 0).mean() > 0.99
    assert moved.mean() == pytest.approx(5000, rel=0.1)


def test_p_is_a_percentage_of_the_records():
    """sdcMicro documents P as a percentage and uses it as a fraction (its issue #366)."""
    before = pl.DataFrame({"x": np.arange(1000.0)})
    for p in (1, 5, 15):
        after = tacit.Plan([mask.RankSwap(columns=["x"], p=p)]).apply(before, seed=1).frame
        largest = (after["x"] - before["x"]).abs().max()
        assert 0.6 * 10 * p < largest <= 10 * p


def test_values_stay_the_same_as_a_whole_and_missing_ones_stay_in_place():
    data = tacit.datasets.census(800, missing=0.05)
    columns = ["income", "education", "age"]
    after = tacit.Plan([mask.RankSwap(columns=columns, p=10)]).apply(data, seed=2).frame
    for column in columns:
        before = data.frame[column]
        assert after[column].sort().equals(before.sort())
        assert after[column].is_null().equals(before.is_null())
        assert not after[column].equals(before)
        assert after[column].dtype == before.dtype


def test_ordinal_values_are_swapped_in_the_order_of_their_categories():
    levels = [f"level {i}" for i in (3, 1, 2, 0)]
    before = pl.DataFrame({"o": levels * 50})
    data = tacit.Microdata.of(before).with_categories(o=levels)
    after = tacit.Plan([mask.RankSwap(columns=["o"], p=20)]).apply(data, seed=1).frame
    place = {level: i for i, level in enumerate(levels)}
    moved = [abs(place[a] - place[b]) for a, b in zip(before["o"], after["o"], strict=True)]
    assert max(moved) == 1


def test_strata_are_not_crossed():
    data = tacit.datasets.census(600)
    after = tacit.Plan([mask.RankSwap(columns=["income"], p=50, within=["sex"])]).apply(
        data, seed=1
    )
    for sex in data.frame["sex"].unique():
        was = data.frame.filter(pl.col("sex") == sex)["income"].sort()
        now = after.frame.filter(pl.col("sex") == sex)["income"].sort()
        assert was.equals(now)


@pytest.mark.parametrize("target", [0.9, 0.99])
def test_the_window_can_follow_a_correlation(target):
    before = pl.DataFrame({"x": np.random.default_rng(0).permutation(2000).astype(float)})
    method = mask.RankSwap(columns=["x"], keep_correlation=target)
    after = tacit.Plan([method]).apply(before, seed=1).frame
    found = np.corrcoef(before["x"], after["x"])[0, 1]
    assert target <= found < target + 0.02


def test_relations_weaken_as_p_grows():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(5000)
    before = pl.DataFrame({"a": a, "b": a + 0.3 * rng.standard_normal(5000)})

    def correlation(p):
        plan = tacit.Plan([mask.RankSwap(columns=["a", "b"], p=p)])
        return np.corrcoef(plan.apply(before, seed=1).frame.to_numpy().T)[0, 1]

    assert correlation(1) > correlation(10) > correlation(40)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="p"):
        mask.RankSwap(columns=["x"], p=0)
    with pytest.raises(SchemaError, match="nominal"):
        tacit.Plan([mask.RankSwap(columns=["t"])]).apply(pl.DataFrame({"t": ["a", "b"]}))
    with pytest.raises(DataError, match="two records"):
        tacit.Plan([mask.RankSwap(columns=["x"])]).apply(pl.DataFrame({"x": [1.0]}))


def test_equal_values_have_no_order_of_their_own():
    """Among ties the partner of a record must not follow from its place in the file."""
    before = pl.DataFrame({"x": [0] * 50 + [1] * 50, "name": range(100)})
    method = mask.RankSwap(columns=["x"], p=20)
    moved = np.zeros(100)
    for seed in range(200):
        moved += (
            tacit.Plan([method]).apply(before, seed=seed).frame["x"] != before["x"]
        ).to_numpy()
    assert moved.min() > 0
    assert moved[:50].max() < 4 * moved[:50].mean()


def test_long_whole_numbers_are_swapped_by_their_last_digit_too():
    start = 2**60
    before = pl.DataFrame({"x": [start + i for i in range(1000)]})
    after = tacit.Plan([mask.RankSwap(columns=["x"], p=1)]).apply(before, seed=1).frame
    assert after["x"].sort().equals(before["x"])
    assert 0 < (after["x"] - before["x"]).abs().max() <= 10


def test_a_correlation_that_no_swap_keeps_is_refused_not_released_unswapped():
    with pytest.raises(ProtectionError, match=r"0\.999"):
        tacit.Plan([mask.RankSwap(columns=["x"], keep_correlation=0.999999)]).apply(
            pl.DataFrame({"x": [0.0, 1000.0]}), seed=1
        )
    with pytest.raises(DataError, match="infinite"):
        tacit.Plan([mask.RankSwap(columns=["x"], keep_correlation=0.9)]).apply(
            pl.DataFrame({"x": [0.0, 1.0, float("inf")]}), seed=1
        )
