"""Logistic and Poisson regression: equal to the pooled fit, or refused."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from tacit.federated import StoppedError, simulate

X = {"x": ["age", "year", "sex"], "levels": {"sex": ("m", "f")}}


@pytest.mark.parametrize(
    ("key", "y", "family"),
    [("logistic", "event", sm.families.Binomial()), ("poisson", "visits", sm.families.Poisson())],
    ids=["logistic", "poisson"],
)
@pytest.mark.parametrize("intercept", [True, False], ids=["constant", "none"])
def test_the_fit_is_the_pooled_one(five, key, y, family, intercept):
    answer = simulate(five, key, y=y, **X, intercept=intercept)
    whole = pl.concat(five.values())
    female = (whole["sex"] == "f").cast(pl.Float64)
    design = np.column_stack([np.ones(len(whole)), whole["age"], whole["year"], female])
    design = design if intercept else design[:, 1:]
    fit = sm.GLM(whole[y].to_numpy(), design, family=family).fit(tol=1e-14, tol_criterion="params")
    assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-8)
    assert np.allclose(list(answer["standard_errors"].values()), fit.bse, rtol=1e-8)
    assert answer["deviance"] == pytest.approx(fit.deviance, rel=1e-10)


def frame(x, y):
    return pl.DataFrame({"x": np.asarray(x, float), "y": np.asarray(y, float)})


def test_separation_is_refused():
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(3):
        x = rng.normal(size=50)
        parts.append(frame(x, x > 0))
    with pytest.raises(StoppedError, match=r"separate|converge|collinear"):
        simulate(parts, "logistic", y="y", x=["x"])


@pytest.mark.parametrize(
    ("key", "y", "why"),
    [
        ("logistic", [0, 1, 2] * 10, "0 or 1"),
        ("logistic", [1] + [0] * 29, "differ from all the others"),
        ("logistic", [0] * 30, "the same in all"),
        ("poisson", [0] * 30, "0 in all"),
        ("poisson", [0.5] * 30, "a count"),
        ("poisson", [-1] * 30, "a count"),
    ],
    ids=["other values", "one event", "no event", "no counts", "halves", "negative"],
)
def test_bad_responses_are_refused(key, y, why):
    x = np.random.default_rng(1).normal(size=30)
    with pytest.raises(StoppedError, match=why):
        simulate([frame(x, y)] * 3, key, y="y", x=["x"])


def test_a_record_with_too_much_leverage_is_refused():
    rng = np.random.default_rng(2)
    parts = []
    for k in range(3):
        x = rng.normal(size=60)
        if k == 0:
            x[0] = 1e5
        parts.append(frame(x, rng.poisson(2.0, 60)))
    with pytest.raises(StoppedError, match=r"leverage|converge"):
        simulate(parts, "poisson", y="y", x=["x"])


def test_large_counts_converge():
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(3):
        x = rng.normal(size=200)
        parts.append(frame(x, rng.poisson(np.exp(6 + 1.5 * x))))
    answer = simulate(parts, "poisson", y="y", x=["x"], policy=None)
    assert answer["coefficients"]["x"] == pytest.approx(1.5, abs=0.02)
