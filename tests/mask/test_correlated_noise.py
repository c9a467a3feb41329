"""Noise with the covariance of the data."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError


def table(n=20_000):
    rng = np.random.default_rng(0)
    a = rng.gamma(2.0, size=n)
    return pl.DataFrame(
        {"a": a, "b": 0.5 * a + rng.standard_normal(n), "c": rng.standard_normal(n)}
    )


COLUMNS = ["a", "b", "c"]


def moments(frame):
    values = frame[COLUMNS].to_numpy()
    return values.mean(axis=0), np.cov(values.T)


def test_kims_transformation_keeps_mean_and_covariance_on_average():
    before = table()
    after = (
        tacit.Plan([mask.CorrelatedNoise(columns=COLUMNS, alpha=0.3)]).apply(before, seed=1).frame
    )
    (m0, c0), (m1, c1) = moments(before), moments(after)
    assert m1 == pytest.approx(m0, abs=0.03)
    assert c1 == pytest.approx(c0, abs=0.06)


def test_without_scaling_covariances_grow_by_one_plus_alpha():
    before = table()
    method = mask.CorrelatedNoise(columns=COLUMNS, alpha=0.5, scale_back=False)
    after = tacit.Plan([method]).apply(before, seed=1).frame
    assert moments(after)[1] == pytest.approx(1.5 * moments(before)[1], abs=0.1)


@pytest.mark.parametrize("weighted", [False, True])
def test_exact_keeps_the_sample_moments_to_rounding(weighted):
    before = table(500).with_columns(w=pl.Series(np.random.default_rng(1).uniform(1, 5, 500)))
    data = tacit.Microdata.of(before)
    if weighted:
        data = data.with_roles(weight="w")
    method = mask.CorrelatedNoise(columns=COLUMNS, alpha=0.4, exact=True)
    after = tacit.Plan([method]).apply(data, seed=1).frame
    shares = before["w"].to_numpy() if weighted else np.ones(500)
    x, y = before[COLUMNS].to_numpy(), after[COLUMNS].to_numpy()
    assert np.average(y, axis=0, weights=shares) == pytest.approx(
        np.average(x, axis=0, weights=shares)
    )
    assert np.cov(y.T, aweights=shares) == pytest.approx(np.cov(x.T, aweights=shares))
    assert np.abs(y - x).mean() > 0.1


def test_a_singular_covariance_is_no_problem():
    before = table(300).with_columns(c=pl.col("a") + pl.col("b"))
    for exact in (False, True):
        method = mask.CorrelatedNoise(columns=COLUMNS, exact=exact)
        after = tacit.Plan([method]).apply(before, seed=1).frame
        assert np.allclose(after["c"], after["a"] + after["b"])


def test_exact_is_refused_where_it_cannot_be_kept():
    table = pl.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], "b": [2.0, 1.0, 0.0, 5.0]})
    with pytest.raises(DataError, match="exactly"):
        tacit.Plan([mask.CorrelatedNoise(columns=["a", "b"], exact=True)]).apply(table, seed=1)
