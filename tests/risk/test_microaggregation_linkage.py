"""Linkage that knows the groups: intersecting blocks undoes what grouping them apart protects."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError

BLOCKS = [["age", "hours"], ["income", "taxes"]]
COLUMNS = [c for block in BLOCKS for c in block]


@given(st.integers(2, 40), st.integers(1, 3), st.integers(0, 1000))
def test_equal_to_the_definition(n, n_nearest, seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(n, 2))
    before[0] += 1
    after = before.round(0)
    missing = rng.random(after.shape) < 0.1
    after[missing] = np.nan
    names = ["a", "b"]
    original, released = (Microdata.of(pl.DataFrame(x, schema=names)) for x in (before, after))
    measure = risk.MicroaggregationLinkage(blocks=[["a"], ["b"]], centroids=n_nearest)
    found = measure.measure(original, released.numbered())
    is_candidate = np.ones((n, n), dtype=bool)
    for c in range(2):
        centroids = np.unique(after[~missing[:, c], c])
        for i in range(n):
            near = centroids[np.argsort(np.abs(centroids - before[i, c]))[:n_nearest]]
            is_candidate[i] &= np.isin(after[:, c], near) | missing[:, c] | (len(centroids) == 0)
    expected = np.diag(is_candidate) / np.maximum(is_candidate.sum(axis=1), 1)
    np.testing.assert_allclose(found.per_unit, expected)
    assert found.details["without_candidate"] == np.sum(is_candidate.sum(axis=1) == 0)


def test_one_block_is_distance_linkage_with_ties_split():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Mdav(columns=COLUMNS, k=4)]).apply(data, seed=1)
    aware = risk.MicroaggregationLinkage(blocks=[COLUMNS]).measure(data, release)
    plain = risk.DistanceLinkage(attributes=COLUMNS).measure(data, release)
    np.testing.assert_allclose(aware.per_unit, plain.per_unit)
    assert aware.per_unit.max() <= 1 / 4
    assert aware.details["smallest_group"][0] >= 4


def test_blocks_grouped_apart_break_k_anonymity():
    data = tacit.datasets.census(400)
    plan = tacit.Plan([mask.Mdav(columns=block, k=5) for block in BLOCKS])
    release = plan.apply(data, seed=1)
    aware = risk.MicroaggregationLinkage(blocks=BLOCKS).measure(data, release)
    assert aware.per_unit.max() == 1, "some intersections hold one record only"
    together = tacit.Plan([mask.Mdav(columns=COLUMNS, k=5)]).apply(data, seed=1)
    joint = risk.MicroaggregationLinkage(blocks=[COLUMNS]).measure(data, together)
    assert aware.value > 2 * joint.value


def test_individual_ranking_is_found_between_two_centroids():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.IndividualRanking(columns=COLUMNS, k=3)]).apply(data, seed=1)
    single = [[c] for c in COLUMNS]
    one, two = (
        risk.MicroaggregationLinkage(blocks=single, centroids=q).measure(data, release)
        for q in (1, 2)
    )
    assert two.details["without_candidate"] <= one.details["without_candidate"]
    assert two.per_unit.min() > 0, "the own group is one of the two around a value"
    assert two.value > 0.3


def test_falls_on_average_as_k_grows():
    data = tacit.datasets.census(300)
    values = []
    for k in (2, 5, 20, 60):
        release = tacit.Plan([mask.Mdav(columns=block, k=k) for block in BLOCKS]).apply(
            data, seed=1
        )
        values.append(risk.MicroaggregationLinkage(blocks=BLOCKS).measure(data, release).value)
    assert all(a > b for a, b in pairwise(values)), values


def test_missing_values_exclude_nothing():
    frame = pl.DataFrame({"a": [1.0, 1.0, 9.0, 9.0], "b": [5.0, 6.0, 5.0, 6.0]})
    original = Microdata.of(frame).with_missing({"a": np.array([True, False, False, False])})
    found = risk.MicroaggregationLinkage(blocks=[["a"], ["b"]]).measure(
        original, Microdata.of(frame).numbered()
    )
    assert found.per_unit.tolist() == [0.5, 1.0, 1.0, 1.0]
    nothing = original.with_missing({c: np.ones(4, dtype=bool) for c in "ab"})
    blind = risk.MicroaggregationLinkage(blocks=[["a"], ["b"]]).measure(
        nothing, Microdata.of(frame).numbered()
    )
    assert blind.per_unit.tolist() == [0.25] * 4


def test_bad_input():
    data = tacit.datasets.census(30)
    with pytest.raises(DataError, match="centroids need numbers"):
        risk.MicroaggregationLinkage(blocks=[["region"]]).measure(data)
    with pytest.raises(DataError, match="at least one block"):
        risk.MicroaggregationLinkage(blocks=[]).measure(data)
