"""Spectral filtering: independent noise on correlated data comes off, correlated noise stays."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def data():
    """Five variables that are almost one."""
    rng = np.random.default_rng(6)
    one = rng.normal(size=(1500, 1))
    values = 0.98 * one + 0.2 * rng.normal(size=(1500, 5))
    return tacit.Microdata.of(pl.DataFrame(values, schema=NAMES)).with_roles(keys=NAMES)


def run(data, step):
    return attack.NoiseFiltering(width=0.2).run(tacit.Plan([step]).apply(data, seed=1))


def test_independent_noise_is_filtered_as_theory_says(data):
    """The mean square error of the best linear estimate is the trace of S - S (S + E)^-1 S."""
    found = run(data, mask.UncorrelatedNoise(columns=NAMES, level=1.0))
    assert found.leaked
    sigma = np.corrcoef(data.numeric(NAMES), rowvar=False)
    error = sigma - sigma @ np.linalg.inv(sigma + np.eye(5)) @ sigma
    assert found.details["error_filtered"] == pytest.approx(
        np.sqrt(np.diag(error).mean()), rel=0.05
    )
    assert found.details["error_released"] == pytest.approx(1.0, rel=0.05)


def test_noise_with_the_correlations_of_the_data_is_not(data):
    found = run(data, mask.CorrelatedNoise(columns=NAMES, alpha=1.0))
    assert not found.leaked
    assert found.gain == pytest.approx(0, abs=0.01)
