"""Estimators against statsmodels and by hand."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import DataError, ParameterError
from tacit.inference import Mean, Regression, Total

sm = pytest.importorskip("statsmodels.api")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    frame = pl.DataFrame(
        {
            "x": x,
            "g": ["a", "b", "b", "c"] * 100,
            "count": rng.poisson(np.exp(0.3 * x)),
            "yes": rng.random(400) < 1 / (1 + np.exp(-x)),
            "y": 2 * x + rng.normal(size=400),
        }
    )
    return tacit.Microdata.of(frame)


def test_mean_and_total_by_hand(data):
    found = Mean(columns=["x"])(data)
    x = data.frame["x"].to_numpy()
    assert found.values[0] == pytest.approx(x.mean())
    assert found.variances[0] == pytest.approx(x.var(ddof=1) / 400)
    total = Total(columns=["x"], population=4000)(data)
    assert total.values[0] == pytest.approx(4000 * x.mean())
    assert total.variances[0] == pytest.approx(4000**2 * x.var(ddof=1) / 400)


def test_weights_are_used(data):
    weighted = tacit.Microdata.of(data.frame.with_columns(w=pl.col("x").exp())).with_roles(
        weight="w"
    )
    w, x = np.exp(data.frame["x"].to_numpy()), data.frame["x"].to_numpy()
    assert Mean(columns=["x"])(weighted).values[0] == pytest.approx((w @ x) / w.sum())
    assert Total(columns=["x"])(weighted).values[0] == pytest.approx(w @ x)


@pytest.mark.parametrize(
    ("response", "family"), [("y", "gaussian"), ("yes", "binomial"), ("count", "poisson")]
)
def test_regressions_are_those_of_statsmodels(data, response, family):
    found = Regression(response, ["x", "g"], family)(data)
    g = data.frame["g"].to_numpy()
    matrix = np.column_stack([np.ones(400), data.frame["x"], g == "a", g == "c"])
    other = sm.GLM(
        data.frame[response].to_numpy().astype(float), matrix,
        family=getattr(sm.families, family.title())(),
    ).fit()  # fmt: skip
    order = [found.names.index(n) for n in ("constant", "x", "g = a", "g = c")]
    assert found.values[order] == pytest.approx(other.params, rel=1e-6, abs=1e-8)
    assert np.sqrt(found.variances[order]) == pytest.approx(other.bse, rel=1e-4)


def test_what_is_not_determined_is_nan_and_nonsense_is_refused(data):
    twice = tacit.Microdata.of(data.frame.with_columns(z=pl.col("x") * 2))
    assert np.isnan(Regression("y", ["x", "z"])(twice).values).sum() == 1
    with pytest.raises(ParameterError, match="two categories"):
        Regression("g", ["x"])(data)
    with pytest.raises(DataError, match="two values"):
        Mean(columns=["x"])(data.take([0]))
