"""Covariances, correlations, principal components."""

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA

from tacit.core.errors import ParameterError
from tacit.federated import Policy, StoppedError, simulate

NAMES = ["age", "year", "income"]


def pooled(parts):
    return pl.concat(parts.values()).select(NAMES).to_numpy()


def test_covariance_and_correlation_are_the_pooled_ones(five):
    answer = simulate(five, "covariance", variables=NAMES)
    assert np.allclose(answer["covariance"], np.cov(pooled(five).T), rtol=1e-11)
    assert np.allclose(answer["correlation"], np.corrcoef(pooled(five).T), rtol=1e-11)


def test_components_are_those_of_scikit_learn(five):
    answer = simulate(five, "components", variables=NAMES, scaled=False, n_components=2)
    fit = PCA(2).fit(pooled(five))
    assert np.allclose(answer["variances"], fit.explained_variance_, rtol=1e-10)
    assert np.allclose(answer["explained"], fit.explained_variance_ratio_, rtol=1e-10)
    assert np.allclose(np.abs(answer["components"]), np.abs(fit.components_), rtol=1e-7)


def test_scaled_components_explain_everything(five):
    answer = simulate(five, "components", variables=NAMES)
    assert sum(answer["variances"]) == pytest.approx(3)
    assert sum(answer["explained"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("own", "why"), [(0.95, r"above 0\.95 .* 'income'"), (1.0, r"leverage above 0\.5")]
)
def test_attack_f4_a_variable_that_is_about_one_record_is_refused(parts, own, why):
    """A huge value on one record makes every covariance a multiple of its other values."""
    first = parts["agency-00"].with_columns(
        age=pl.when(pl.int_range(pl.len()) == 0).then(1e9).otherwise("age")
    )
    given = {"variables": ["age", "income"], "policy": Policy(max_told=own)}
    with pytest.raises(StoppedError, match=why):
        simulate({**parts, "agency-00": first}, "covariance", **given)


def test_more_variables_than_records_are_refused():
    rng = np.random.default_rng(1)
    parts = [pl.DataFrame({f"v{j}": rng.random(11) for j in range(12)}) for _ in range(3)]
    with pytest.raises(StoppedError, match="p >= n"):
        simulate(parts, "covariance", variables=[f"v{j}" for j in range(12)])


def test_constant_and_collinear_variables(parts):
    given = {n: p.with_columns(one=pl.lit(1.0), twice=pl.col("age") * 2) for n, p in parts.items()}
    answer = simulate(given, "covariance", variables=["age", "one", "twice"])
    assert answer["correlation"][0][1] == 0
    assert answer["correlation"][0][2] == pytest.approx(1)
    with pytest.raises(StoppedError, match="constant"):
        simulate(given, "components", variables=["age", "one"])


def test_bad_variables_are_refused(parts):
    for names in ([], ["age", "age"]):
        with pytest.raises(ParameterError):
            simulate(parts, "covariance", variables=names, policy=Policy())
