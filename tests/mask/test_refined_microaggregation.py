"""Refined microaggregation: groups of k or more, less loss than MDAV, whatever the blocks."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.mask._blocks import split_into_blocks
from tacit.mask._grouped import group_means, standardised
from tacit.mask.mdav import mdav_groups
from tacit.mask.refined_microaggregation import refined_groups


def sse(values: np.ndarray, groups: np.ndarray) -> float:
    return float(np.sum((values - group_means(values, groups)) ** 2))


@pytest.mark.parametrize(("file", "first"), [("CASCrefmicrodata", 0), ("Tarragona", 0), ("EIA", 5)])
@pytest.mark.parametrize("k", [3, 5, 10])
def test_loss_is_below_that_of_mdav_on_the_reference_files(shared_data, file, first, k):
    table = pl.read_csv(shared_data / "casc" / f"{file}.csv")
    columns = [*(["UTILITYID"] if first else []), *table.columns[first:]]
    values = standardised(table.select(columns).to_numpy().astype(float))
    groups = refined_groups(values, k, np.random.default_rng(1))
    assert sse(values, groups) < 0.97 * sse(values, mdav_groups(values, k, standardise=False))
    assert np.bincount(groups).min() >= k


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(5, 150), st.integers(1, 3)),
        elements=st.integers(-6, 6).map(float),
    ),
    k=st.integers(2, 5),
)
def test_groups_have_k_to_2k_less_1_members_and_never_lose_more_than_mdav(values, k):
    groups = refined_groups(values, k, np.random.default_rng(0), rounds=3)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    plain = mdav_groups(values, k, standardise=False)
    assert sse(values, groups) <= sse(values, plain) + 1e-8


def test_many_blocks_keep_the_promise_and_come_close_to_one_block():
    values = np.random.default_rng(2).standard_normal((6000, 4))
    whole = refined_groups(values, 3, np.random.default_rng(0))
    cut = refined_groups(values, 3, np.random.default_rng(0), block_size=500)
    assert np.bincount(cut).min() >= 3
    assert sse(values, cut) < 1.08 * sse(values, whole)
    assert sse(values, cut) < sse(values, mdav_groups(values, 3, standardise=False))


def test_the_release_is_k_anonymous_on_the_columns_and_keeps_means():
    data = tacit.datasets.census(2000, missing=0.03)
    method = mask.RefinedMicroaggregation(columns=["income", "hours"], k=4)
    release = tacit.Plan([method]).apply(data, seed=5)
    counts = release.frame.group_by("income", "hours").len()
    known = counts.filter(~pl.all_horizontal(pl.col("income", "hours").is_null()))
    assert known["len"].min() >= 4
    before, after = data.frame, release.frame
    kept = after["hours"].is_not_null()
    weight = before["weight"].filter(kept)
    expected = (before["hours"].filter(kept) * weight).sum()
    assert (after["hours"].filter(kept) * weight).sum() == pytest.approx(expected)


def test_too_few_records_are_refused():
    with pytest.raises(DataError, match="k = 3"):
        tacit.Plan([mask.RefinedMicroaggregation(columns=["x"], k=3)]).apply(
            pl.DataFrame({"x": [1.0, 2.0]})
        )


@pytest.mark.parametrize("turned", [False, True])
def test_blocks_hold_every_point_once_and_are_not_too_small(turned):
    points = np.random.default_rng(0).standard_normal((5000, 3))
    rng = np.random.default_rng(1) if turned else None
    blocks = split_into_blocks(points, 300, rng)
    assert np.array_equal(np.sort(np.concatenate(blocks)), np.arange(5000))
    assert max(map(len, blocks)) <= 300
    assert min(map(len, blocks)) >= 100
