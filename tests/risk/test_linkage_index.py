"""The index of released records against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.risk._linkage_index import (
    PointIndex,
    distinct_points,
    in_blocks,
    own_shares,
    paired_distances,
)


def distances(targets, points, n_measured, blank):
    total = np.zeros((len(targets), len(points)))
    for c in range(targets.shape[1]):
        x, y = targets[:, None, c], points[None, :, c]
        part = (x - y) ** 2 if c < n_measured else (x != y).astype(float)
        total += np.where(np.isnan(x) | np.isnan(y), blank[c], part)
    return total


@st.composite
def searches(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_targets, n_points = draw(st.integers(1, 40)), draw(st.integers(1, 150))
    n_measured, n_codes = draw(st.sampled_from([(1, 0), (3, 0), (2, 2), (0, 2)]))
    digits = draw(st.sampled_from([0, 1, 12]))

    def side(n):
        numbers = rng.normal(size=(n, n_measured)).round(digits)
        codes = rng.integers(0, 3, (n, n_codes)).astype(float)
        values = np.hstack([numbers, codes])
        values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
        return values

    blank = rng.random(n_measured + n_codes) * 2
    return side(n_targets), side(n_points), n_measured, blank


@given(searches())
def test_nearest_equals_brute_force(search):
    targets, points, n_measured, blank = search
    found = PointIndex(points, n_measured, blank).nearest(targets)
    expected = distances(targets, points, n_measured, blank).min(axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(searches(), st.integers(0, 1000))
def test_ties_equal_brute_force(search, seed):
    targets, points, n_measured, blank = search
    index = PointIndex(points, n_measured, blank)
    own = np.random.default_rng(seed).integers(0, len(points), len(targets))
    radius = paired_distances(targets, points[own], n_measured, blank)
    every = distances(targets, points, n_measured, blank)
    np.testing.assert_allclose(radius, every[np.arange(len(own)), own])
    is_best = every.min(axis=1) >= radius - 1e-9
    expected = np.where(is_best, (every <= radius[:, None] + 1e-9).sum(axis=1), 0)
    np.testing.assert_array_equal(index.tied_at(targets, radius), expected)


@given(searches())
def test_windows_equal_brute_force(search):
    targets, points, _, blank = search
    index = PointIndex(points, targets.shape[1], blank)
    known = np.nan_to_num(targets)
    floors, ceilings = known - 0.7, known + 0.4
    radius = np.full(len(targets), 0.3)
    counts = index.within_windows(targets, floors, ceilings, radius)
    outside = (points[None] < floors[:, None]) | (points[None] > ceilings[:, None])
    inside = ~outside.any(axis=2)
    every = np.nansum((targets[:, None] - points[None]) ** 2, axis=2)
    np.testing.assert_array_equal(counts[:, 0], inside.sum(axis=1))
    np.testing.assert_array_equal(counts[:, 1], (inside & (every < 0.3 - 1e-9)).sum(axis=1))


def test_distinct_points_take_missing_for_equal():
    points = np.array([[1, np.nan], [2, 0], [1, np.nan], [1, 0]])
    first, ids = distinct_points(points)
    assert ids[0] == ids[2]
    assert len(first) == 3
    assert sorted(first.tolist()) == [0, 1, 3]


def test_blocks_keep_their_order():
    assert np.array_equal(
        in_blocks(lambda s: np.arange(s.start, s.stop), 5000, "x"), np.arange(5000)
    )
    assert in_blocks(lambda s: np.arange(s.start, s.stop), 0, "x").size == 0


def test_own_shares():
    at = np.array([0, 0, 1, 3])
    share = own_shares(at, np.array([True, True, True, False]), np.array([4.0, 0, 1, 2]), 4)
    assert share.tolist() == [0.5, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="shape"):
        own_shares(at, np.ones(4, bool), np.ones(3), 4)
