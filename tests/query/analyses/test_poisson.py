"""Poisson models agree with statsmodels."""

import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf


def test_estimates(open_server, complete_data):
    answer = open_server.ask({"method": "poisson", "formula": "visits ~ age + sex"})
    fitted = smf.glm(
        "visits ~ age + C(sex, Treatment('f'))", complete_data, family=sm.families.Poisson()
    ).fit(tol=1e-12)
    order = [0, 2, 1]
    assert answer.columns["coefficient"] == pytest.approx(fitted.params.iloc[order].tolist())
    assert answer.columns["standard_error"] == pytest.approx(
        fitted.bse.iloc[order].tolist(), rel=1e-5
    )
    assert answer.values["deviance"]["deviance"][1:] == pytest.approx(
        [fitted.deviance, fitted.null_deviance]
    )


def test_nothing_ever_happens(guarded, model_data):
    answer = guarded(model_data.with_columns(visits=pl.lit(0))).ask(
        {"method": "poisson", "formula": "visits ~ age"}
    )
    assert (answer.is_refusal, answer.rule) == (True, "estimate")


def test_a_count_is_not_transformed(open_server):
    answer = open_server.ask({"method": "poisson", "formula": "log(visits) ~ age"})
    assert (answer.is_refusal, answer.rule) == (True, "transformations")


def test_there_is_no_offset(open_server):
    answer = open_server.ask({"method": "poisson", "formula": "visits ~ age", "offset": "size"})
    assert answer.is_refusal
