"""OLS and WLS: equal to the pooled fit, with diagnostics, or refused."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.federated import Policy, StoppedError, simulate

X = {"x": ["age", "year", "sex"], "levels": {"sex": ("m", "f")}}


def pooled(parts):
    whole = pl.concat(parts.values())
    female = (whole["sex"] == "f").cast(pl.Float64)
    design = np.column_stack([np.ones(len(whole)), whole["age"], whole["year"], female])
    return whole, design


def close(found, expected, rtol=1e-9):
    assert np.allclose(list(found.values()), expected, rtol=rtol, atol=0)


def test_ols_is_the_pooled_fit(five):
    answer = simulate(five, "ols", y="income", **X)
    whole, design = pooled(five)
    fit = sm.OLS(whole["income"].to_numpy(), design).fit()
    assert list(answer["coefficients"]) == ["(constant)", "age", "year", "sex=f"]
    close(answer["coefficients"], fit.params)
    close(answer["standard_errors"], fit.bse)
    close(answer["t_values"], fit.tvalues)
    close(answer["p_values"], fit.pvalues, 1e-6)
    for key, expected in (
        ("r_squared", fit.rsquared),
        ("adjusted_r_squared", fit.rsquared_adj),
        ("f_value", fit.fvalue),
        ("residual_sum_of_squares", fit.ssr),
    ):
        assert answer[key] == pytest.approx(expected, rel=1e-9)


def test_diagnostics_are_those_of_the_pooled_fit(five):
    answer = simulate(five, "ols", y="income", **X, policy=Policy(min_cell=1))
    whole, design = pooled(five)
    influence = sm.OLS(whole["income"].to_numpy(), design).fit().get_influence()
    leverage, r = influence.hat_matrix_diag, influence.resid_studentized_internal
    edges = [-np.inf, *answer["leverage"]["edges"], np.inf]
    for first, last, count in answer["leverage"]["counts"]:
        assert count == np.sum((leverage > edges[first]) & (leverage <= edges[last + 1]))
    shown = answer["residuals"]
    assert shown["mean"] == pytest.approx(r.mean(), abs=1e-9)
    assert shown["deviation"] == pytest.approx(r.std(), rel=1e-9)
    assert shown["skewness"] == pytest.approx(((r - r.mean()) ** 3).mean() / r.std() ** 3, rel=1e-6)
    assert sum(count for *_, count in shown["counts"]) == len(r)


def test_the_synthetic_plot_has_the_pattern_and_no_record(five):
    answer = simulate(five, "ols", y="income", **X)
    whole, design = pooled(five)
    fit = sm.OLS(whole["income"].to_numpy(), design).fit()
    plot = answer["residual_plot"]
    assert 50 < len(plot["fitted"]) == len(plot["residual"]) <= 300
    assert not set(np.round(plot["fitted"], 9)) & set(np.round(fit.fittedvalues, 9))
    assert abs(np.mean(plot["residual"])) < 0.25
    assert np.std(plot["fitted"]) == pytest.approx(np.std(fit.fittedvalues), rel=0.35)


def test_wls_is_the_pooled_fit(five):
    answer = simulate(five, "wls", y="income", weight="w", **X)
    whole, design = pooled(five)
    fit = sm.WLS(whole["income"].to_numpy(), design, weights=whole["w"].to_numpy()).fit()
    close(answer["coefficients"], fit.params)
    close(answer["standard_errors"], fit.bse)
    assert answer["r_squared"] == pytest.approx(fit.rsquared, rel=1e-9)


def test_without_a_constant(five):
    answer = simulate(five, "ols", y="income", **X, intercept=False)
    whole, design = pooled(five)
    fit = sm.OLS(whole["income"].to_numpy(), design[:, 1:]).fit()
    close(answer["coefficients"], fit.params)
    close(answer["standard_errors"], fit.bse)


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.floats(-1e6, 1e6), st.sampled_from([1e-6, 1.0, 1e6]))
def test_far_from_zero_and_in_any_unit(seed, centre, unit):
    rng = np.random.default_rng(seed)
    parts = {}
    for k in range(3):
        x = centre + unit * rng.normal(size=40)
        parts[f"a{k}"] = pl.DataFrame({"x": x, "y": (x - centre) / unit + rng.normal(size=40)})
    answer = simulate(parts, "ols", y="y", x=["x"])
    whole = pl.concat(parts.values())
    x, y = whole["x"].to_numpy(), whole["y"].to_numpy()
    slope = np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2)
    # What is left of the slope when x is given with 16 digits.
    digits = 1e-9 + 1e-15 * (abs(centre) / unit) * 10
    assert answer["coefficients"]["x"] == pytest.approx(slope, rel=digits, abs=digits / unit)


def changed(parts, **columns):
    first = next(iter(parts))
    return {**parts, first: parts[first].with_columns(**columns)}


@pytest.mark.parametrize(
    ("change", "request_", "why"),
    [
        ({}, {"x": ["age", "twice"]}, "collinear"),
        ({}, {"x": ["income2", "age"]}, "perfect"),
        ({}, {"x": ["age", "sex"], "levels": {"sex": ["m", "x"]}}, "not agreed"),
        ({"age": pl.when(pl.int_range(pl.len()) == 0).then(1e9).otherwise("age")},
         {"x": ["age"]}, "leverage above"),
        ({"age": pl.lit(None, dtype=pl.Float64)}, {"x": ["age"]}, "fewer than 10 complete"),
        ({"w": pl.lit(-1.0)}, {"x": ["age"], "weight": "w"}, "weights"),
    ],
    ids=["collinear", "perfect", "levels", "leverage", "missing", "weights"],
)  # fmt: skip
def test_refusals_say_why(parts, change, request_, why):
    given_ = {
        n: p.with_columns(twice=pl.col("age") * 2, income2=pl.col("income") * 2)
        for n, p in parts.items()
    }
    key = "wls" if "weight" in request_ else "ols"
    with pytest.raises(StoppedError, match=why):
        simulate(changed(given_, **change), key, y="income", **request_)


def test_as_many_coefficients_as_records_are_refused():
    rng = np.random.default_rng(1)
    names = [f"v{j}" for j in range(12)]
    parts = [pl.DataFrame({n: rng.random(12) for n in [*names, "y"]}) for _ in range(3)]
    with pytest.raises(StoppedError, match="p >= n"):
        simulate(parts, "ols", y="y", x=names)
