"""The bound of leverages over agencies: never below the largest, and made of uniform messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from tacit.core.errors import ParameterError
from tacit.federated import joint_leverage
from tacit.federated.joint_leverage import leverage_bound, row_product
from tacit.federated.stopped import RefusedError


def scores_of(z, split):
    """Return each agency's part of the scores, and the leverages of the joined file."""
    z = z - z.mean(axis=0)
    root = np.linalg.cholesky(np.linalg.inv(z.T @ z))
    parts = [z[:, own] @ root[own] for own in split]
    design = np.column_stack([np.ones(len(z)), z])
    return parts, np.diag(design @ np.linalg.pinv(design))


def samuelson(h):
    n = len(h)
    return h.mean() + np.sqrt((n - 1) * np.var(h))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(8, 60), st.sampled_from([1.0, 30.0, 1e4]))
def test_no_leverage_is_above_the_bound(seed, n, outlier):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    z[0] *= outlier
    parts, leverages = scores_of(z, [[0], [1, 2], []])
    try:
        bound = leverage_bound(parts)
    except RefusedError:  # only where floats cannot tell the leverages
        assert abs((sum(parts) ** 2).sum() - 3) > 1e-5
        return
    assert bound >= leverages.max() - 1e-3
    assert bound == pytest.approx(min(samuelson(leverages), 1.0), abs=1e-3)


def test_a_lonely_unit_is_found_although_it_is_usual_in_each_variable():
    """Two agencies hold nearly the same variable; one unit is where they differ."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    z = np.column_stack([a, a + rng.normal(0, 1e-3, 500)])
    z[7, 1] = z[7, 0] + 1.0
    parts, leverages = scores_of(z, [[0], [1]])
    assert (z**2 / (z**2).sum(axis=0)).max() < 0.05
    assert leverages.max() > 0.99
    assert leverage_bound(parts) > 0.99


def test_leverages_that_cannot_be_seen_are_refused():
    """One unit ten thousand times as far out as the others makes all predictors alike."""
    rng = np.random.default_rng(1021)
    z = rng.normal(size=(8, 3))
    z[0] *= 1e4
    parts, _ = scores_of(z, [[0], [1, 2], []])
    with pytest.raises(RefusedError, match="collinear"):
        leverage_bound(parts)


def test_products_of_rows_are_exact_in_the_ring():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2**64, (2, 2, 6, 3), dtype=np.uint64)
    whole = [[[int(m[0, i, j]) + (int(m[1, i, j]) << 64) for j in range(3)] for i in range(6)]
             for m in (a, b)]  # fmt: skip
    expected = [
        sum(x * y for x, y in zip(one, other, strict=True)) % 2**128
        for one, other in zip(*whole, strict=True)
    ]
    found = row_product(a, b)
    assert [int(low) + (int(high) << 64) for low, high in found.T] == expected


@pytest.mark.parametrize("size", [0.0, 1e3])
def test_attack_shares_are_uniform_whatever_the_scores_are(size):
    scores = joint_leverage._SCORE.encode(np.full((2000, 1), size)).reshape(2, 2000, 1)
    for share in joint_leverage._leverage_shares([scores, scores]):
        assert kstest(share[1] / 2.0**64, "uniform").pvalue > 1e-9
        assert 800 < np.sum(share[0] & np.uint64(1)) < 1200


def test_agencies_must_have_the_same_units():
    with pytest.raises(ParameterError, match="one shape"):
        leverage_bound([np.zeros((3, 1)), np.zeros((4, 1))])
    with pytest.raises(ParameterError, match="two or more"):
        leverage_bound([np.zeros((3, 1))])
