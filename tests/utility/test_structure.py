"""Means, covariances and factors, against NumPy."""

import numpy as np
import pytest

from tacit.utility._structure import Factors, Structure


def sample(n=200, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + np.arange(p)


def test_without_weights_it_is_the_usual_sample_covariance():
    values = sample()
    found = Structure.of(values)
    np.testing.assert_allclose(found.means, values.mean(axis=0))
    np.testing.assert_allclose(found.covariances, np.cov(values.T))
    np.testing.assert_allclose(found.correlations, np.corrcoef(values.T))


def test_weights_count_records_and_their_scale_does_not_matter():
    values, weights = sample(), np.random.default_rng(1).integers(1, 5, 200).astype(float)
    found, scaled = Structure.of(values, weights), Structure.of(values, 7 * weights)
    repeated = np.repeat(values, weights.astype(int), axis=0)
    np.testing.assert_allclose(found.means, repeated.mean(axis=0))
    np.testing.assert_allclose(found.correlations, np.corrcoef(repeated.T))
    np.testing.assert_allclose(found.covariances, scaled.covariances)
    np.testing.assert_allclose(
        found.covariances, np.cov(values.T, aweights=weights), err_msg="reliability weights"
    )


def test_missing_values():
    values = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 4.0], [7.0, 9.0]])
    found = Structure.of(values)
    assert found.means.tolist() == [4, 5]
    assert found.n_complete == 3
    np.testing.assert_allclose(found.covariances, np.cov(values[[0, 2, 3]].T))


def test_constant_and_single_records():
    flat = Structure.of(np.column_stack([np.full(30, 0.1), np.arange(30.0)]))
    assert flat.covariances[0].tolist() == [0, 0]
    assert np.isnan(flat.correlations[0]).all()
    assert flat.known_correlations[0, 1] == 0
    one = Structure.of(np.array([[1.0, 2.0]]))
    assert one.means.tolist() == [1, 2]
    assert np.isnan(one.covariances).all()
    assert np.isnan(one.known_correlations).all()


def test_factors_rebuild_the_correlations():
    correlations = np.corrcoef(sample().T)
    factors = Factors.of(correlations)
    np.testing.assert_allclose(factors.loadings @ factors.loadings.T, correlations, atol=1e-12)
    assert factors.variances.sum() == pytest.approx(4)
    assert np.all(np.diff(factors.variances) <= 0)
    largest = np.abs(factors.scores).argmax(axis=0)
    assert np.all(factors.scores[largest, range(4)] > 0)
    np.testing.assert_allclose(factors.communalities, factors.loadings[:, 0] ** 2)


def test_alignment_undoes_signs_and_order():
    factors = Factors.of(np.corrcoef(sample().T))
    order, signs = [2, 0, 3, 1], np.array([-1, 1, -1, 1])
    shuffled = Factors(factors.scores[:, order] * signs, factors.variances[order])
    back = shuffled.aligned_with(factors)
    np.testing.assert_allclose(back.scores, factors.scores)
    np.testing.assert_allclose(back.variances, factors.variances)


def test_exactly_collinear_columns():
    values = sample(p=3)
    values = np.column_stack([values, values[:, 0] + values[:, 1]])
    factors = Factors.of(Structure.of(values).correlations)
    assert np.isfinite(factors.loadings).all()
    assert factors.variances[-1] == pytest.approx(0, abs=1e-12)
