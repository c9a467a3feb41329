"""Agreement patterns of all pairs, and the fit of agreement."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.risk._linkage_patterns import Comparison, fitted_agreement, quantile_groups


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 4), st.integers(0, 1000))
def test_counts_equal_brute_force(n, t, fields, seed):
    rng = np.random.default_rng(seed)
    external, released = (rng.integers(0, 3, (fields, size)).astype(float) for size in (n, t))
    external[rng.random(external.shape) < 0.2] = np.nan
    tolerance = rng.integers(0, 2, fields).astype(float)
    levels, counts = Comparison(external, released, tolerance).patterns()
    found = {tuple(level): count for level, count in zip(levels.tolist(), counts, strict=True)}
    expected = {}
    for i in range(n):
        for j in range(t):
            gap = np.abs(external[:, i] - released[:, j])
            pattern = tuple(np.where(np.isnan(gap), 2, gap <= tolerance).astype(int).tolist())
            expected[pattern] = expected.get(pattern, 0) + 1
    assert found == expected


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2), st.integers(0, 1000))
def test_agreement_of_all_pairs_is_counted_without_looking_at_them(n, t, tolerance, seed):
    rng = np.random.default_rng(seed)
    external, released = (rng.integers(0, 9, (1, size)).astype(float) for size in (n, t))
    released[rng.random(released.shape) < 0.2] = np.nan
    comparison = Comparison(external, released, np.array([float(tolerance)]))
    agree, present = comparison.agreement_of_all_pairs()
    gap = np.abs(external.T - released)
    assert agree[0] == np.sum(gap <= tolerance)
    assert present[0] == np.sum(~np.isnan(gap))
    assert comparison.n_pairs == n * t


def test_fit_recovers_chances_that_made_the_counts():
    m, u, n = np.array([0.9, 0.8, 0.95, 0.7]), np.array([0.1, 0.05, 0.2, 0.02]), 1000
    levels = np.array([[(b >> c) & 1 for c in range(4)] for b in range(16)])
    chance = [np.prod(np.where(levels == 1, p, 1 - p), axis=1) for p in (m, u)]
    counts = n * chance[0] + (n * n - n) * chance[1]
    fitted, rounds = fitted_agreement(levels, counts, u, 1 / n)
    np.testing.assert_allclose(fitted, m, atol=1e-5)
    assert rounds > 1


def test_quantile_groups():
    before = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    groups, others = quantile_groups(before, np.array([0.0, 2.5, 99.0, np.nan]), 2)
    np.testing.assert_array_equal(groups, [0, 0, 1, 1, np.nan])
    np.testing.assert_array_equal(others, [0, 1, 1, np.nan])
