"""Products of two matrices: right, and hidden."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.core.errors import ParameterError
from tacit.federated.matrix_product import (
    PRODUCT,
    Factor,
    deal,
    orthogonal_product,
    ring_product,
    shared_product,
)


@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_shares_add_up_to_the_product(n, p, q, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    total = PRODUCT.decode(PRODUCT.add(*shared_product(x, y)))
    assert np.allclose(total.reshape(p, q), x.T @ y, atol=1e-10)


def test_products_in_the_ring_are_those_of_integers():
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 2**64, (2, 7, k), dtype=np.uint64) for k in (2, 3))
    whole = [m[0].astype(object) + (m[1].astype(object) << 64) for m in (a, b)]
    expected = (whole[0].T @ whole[1]).ravel() % 2**128
    found = ring_product(a, b)
    assert [int(lo) + (int(hi) << 64) for lo, hi in found.T] == expected.tolist()


@pytest.mark.parametrize("value", [0.0, 1000.0])
def test_what_is_sent_is_uniform_whatever_the_matrix(value):
    x = np.full((3000, 1), value)
    first, _ = deal(3000, 1, 1)
    hidden = Factor.of(x, first).hidden()
    assert stats.kstest(hidden[1].ravel() / 2.0**64, "uniform").pvalue > 1e-9


def test_each_share_alone_is_uniform():
    shares = np.array(
        [[s[1, 0] / 2.0**64 for s in shared_product(np.ones((2, 1)), np.ones((2, 1)))]
         for _ in range(600)]
    )  # fmt: skip
    for column in shares.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-9


def test_the_product_of_karr_et_al_is_right_and_hides_some_dimensions():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    product, seen = orthogonal_product(x, y, rng)
    assert np.allclose(product, x.T @ y, atol=1e-12)
    assert np.abs(seen - y).max() > 0.1  # y itself is not shown
    full, all_seen = orthogonal_product(x, y, rng, n_hidden=57)
    assert np.allclose(full, x.T @ y, atol=1e-12)
    assert np.linalg.matrix_rank(all_seen, tol=1e-9) == 2


def test_weakness_a_0_1_column_is_found_when_few_dimensions_are_hidden():
    """With g = 1 the first agency knows y but for one direction: 0/1 values give it away."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 2)), rng.integers(0, 2, (40, 1)).astype(float)
    z_state = np.random.default_rng(4)
    _, seen = orthogonal_product(x, y, z_state, n_hidden=1)
    # y = seen + c z: the distance of seen + c z from {0, 1} is least at the true c.
    u, s, vt = np.linalg.svd(np.column_stack([x, rng.normal(size=(40, 1))]), full_matrices=False)
    drawn = np.random.default_rng(4).normal(size=(40, 1))
    basis = np.linalg.qr(x)[0]
    z = np.linalg.qr(drawn - basis @ (basis.T @ drawn))[0]
    grid = np.linspace(-8, 8, 20001)
    guesses = seen + z * grid
    best = np.abs(guesses - np.clip(np.rint(guesses), 0, 1)).sum(axis=0).argmin()
    assert np.array_equal(np.rint(guesses[:, best]), y[:, 0])
    assert u.shape == (40, 3)
    assert len(s) == len(vt) == 3


@pytest.mark.parametrize("g", [0, 39])
def test_bad_dimensions_are_refused(g):
    with pytest.raises(ParameterError):
        orthogonal_product(np.ones((40, 2)), np.ones((40, 1)), np.random.default_rng(1), n_hidden=g)
