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


def measured(before, after, blocks, **options):
    names = [f"x{c}" for c in range(before.shape[1])]
    original, released = (Microdata.of(pl.DataFrame(x, schema=names)) for x in (before, after))
    sets = [[names[c] for c in block] for block in blocks]
    measure = risk.MicroaggregationLinkage(blocks=sets, **options)
    return measure.measure(original, released.numbered())


@given(st.integers(2, 40), st.integers(1, 3), st.integers(0, 1000))
def test_equal_to_the_definition(n, n_nearest, seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(n, 4))
    after = before.round(0)
    missing = np.repeat(rng.random((n, 2)) < 0.1, 2, axis=1)
    after[missing] = np.nan
    found = measured(before, after, [[0, 1], [2, 3]], centroids=n_nearest)
    is_candidate = np.ones((n, n), dtype=bool)
    units = before.std(axis=0, ddof=1)
    for block in ([0, 1], [2, 3]):
        groups = after[:, block] / units[block]
        blank = np.isnan(groups[:, 0])
        centroids = np.unique(groups[~blank], axis=0)
        for i in range(n if len(centroids) else 0):
            far = ((centroids - before[i, block] / units[block]) ** 2).sum(axis=1)
            near = centroids[np.argsort(far)[:n_nearest]]
            is_candidate[i] &= blank | (groups[:, None] == near[None]).all(axis=2).any(axis=1)
    expected = np.diag(is_candidate) / np.maximum(is_candidate.sum(axis=1), 1)
    np.testing.assert_allclose(found.per_unit, expected)
    assert found.details["without_candidate"] == np.sum(is_candidate.sum(axis=1) == 0)


@given(st.integers(6, 60), st.integers(2, 5), st.integers(0, 1000))
def test_a_value_is_in_one_of_the_two_groups_around_it(n, k, seed):
    """Groups of one attribute: neighbours in rank, at least k each."""
    before = np.random.default_rng(seed).normal(size=(n, 2))
    after = np.empty_like(before)
    for c in range(2):
        order = np.argsort(before[:, c])
        for part in np.array_split(order, max(n // k, 1)):
            after[part, c] = before[part, c].mean()
    found = measured(before, after, [[0], [1]])
    assert found.per_unit.min() > 0
    sizes = 2 * (n // max(n // k, 1) + 1)
    assert measured(before, after, [[0]]).per_unit.min() >= 1 / sizes


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


def test_individual_ranking_protects_little():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.IndividualRanking(columns=COLUMNS, k=3)]).apply(data, seed=1)
    found = risk.MicroaggregationLinkage(blocks=[[c] for c in COLUMNS]).measure(data, release)
    assert found.value > 1.2 / 3


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
