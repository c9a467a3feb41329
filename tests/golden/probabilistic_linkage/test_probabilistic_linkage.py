"""Probabilistic linkage on the Census file against a straightforward EM; see source.md."""

import numpy as np
import polars as pl
import pytest

from tacit import risk

NAMES = ["AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "TAXINC", "ERNVAL"]
TOLERANCE = 0.2


@pytest.fixture(scope="module")
def files(shared_data):
    before = pl.read_csv(shared_data / "casc" / "CASCrefmicrodata.csv").select(NAMES)
    x = before.cast(pl.Float64).to_numpy()
    noise = np.random.default_rng(7).normal(size=x.shape) * 0.1 * x.std(axis=0, ddof=1)
    return before, pl.DataFrame(x + noise, schema=NAMES)


@pytest.fixture(scope="module")
def agreement(files):
    """Agreement of all pairs: original by released by attribute."""
    x, y = (f.cast(pl.Float64).to_numpy() for f in files)
    return np.abs(x[:, None] - y[None]) <= TOLERANCE * x.std(axis=0, ddof=1)


def likelihood(patterns, p):
    return np.prod(np.where(patterns, p, 1 - p), axis=1)


def straightforward_em(agreement, free):
    n, t, _ = agreement.shape
    patterns, counts = np.unique(agreement.reshape(n * t, -1), axis=0, return_counts=True)
    m = np.full(len(NAMES), 0.9)
    u, prevalence = (agreement.sum(axis=(0, 1)) + 0.5) / (n * t + 1), 1 / t
    edge = 0.5 / (n + 1)
    for _ in range(3000):
        true = prevalence * likelihood(patterns, m)
        posterior = true / (true + (1 - prevalence) * likelihood(patterns, u))
        expected = counts * posterior
        new = np.clip((expected @ patterns) / expected.sum(), edge, 1 - edge)
        if free:
            others = counts * (1 - posterior)
            u, prevalence = (others @ patterns) / others.sum(), expected.sum() / counts.sum()
        if np.max(np.abs(new - m)) < 1e-9:
            break
        m = new
    return new, u, prevalence


def linked(agreement, m, u):
    weights = np.where(agreement, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=2)
    best = weights >= weights.max(axis=1, keepdims=True) - 1e-9
    return np.diag(best) / best.sum(axis=1)


def test_equal_to_a_straightforward_em(files, agreement):
    measure = risk.ProbabilisticLinkage(attributes=NAMES, tolerance=TOLERANCE, estimation="em")
    found = measure.measure(*files)
    m, u, _ = straightforward_em(agreement, free=False)
    table = found.details["agreement"]
    np.testing.assert_allclose([table[name]["m"] for name in NAMES], m, atol=1e-7)
    np.testing.assert_allclose([table[name]["u"] for name in NAMES], u, rtol=1e-12)
    np.testing.assert_allclose(found.per_unit, linked(agreement, m, u), atol=1e-12)
    assert 0.05 < found.value < 0.95


def test_known_pairs(files, agreement):
    found = risk.ProbabilisticLinkage(attributes=NAMES, tolerance=TOLERANCE).measure(*files)
    n = len(agreement)
    m = (agreement[np.arange(n), np.arange(n)].sum(axis=0) + 0.5) / (n + 1)
    u = (agreement.sum(axis=(0, 1)) + 0.5) / (n * n + 1)
    np.testing.assert_allclose(found.per_unit, linked(agreement, m, u), atol=1e-12)


def test_a_free_fit_ends_in_another_class_of_pairs(agreement):
    _, _, prevalence = straightforward_em(agreement, free=True)
    assert prevalence > 10 / len(agreement)
