"""Logistic models agree with statsmodels; what has no estimate is refused."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf


def test_estimates(open_server, complete_data):
    answer = open_server.ask(
        {"method": "logistic", "formula": "works ~ age + region", "event": "yes"}
    )
    data = complete_data.assign(y=(complete_data.works == "yes") * 1)
    fitted = smf.logit("y ~ age + C(region, Treatment('North'))", data).fit(disp=0, tol=1e-12)
    order = [0, 3, 1, 2]
    assert answer.columns["term"] == ["(intercept)", "age", "region[East]", "region[Süd]"]
    assert answer.columns["coefficient"] == pytest.approx(fitted.params.iloc[order].tolist())
    assert answer.columns["standard_error"] == pytest.approx(fitted.bse.iloc[order].tolist())
    assert answer.values["explained"] == pytest.approx(fitted.prsquared)
    assert answer.values["deviance"]["deviance"] == pytest.approx(
        [fitted.llr, -2 * fitted.llf, -2 * fitted.llnull]
    )


def test_survey_weights(open_server, complete_data):
    answer = open_server.ask(
        {"method": "logistic", "formula": "works ~ age", "event": "yes", "weighted": True}
    )
    design = sm.add_constant(complete_data[["age"]])
    fitted = sm.GLM(
        (complete_data.works == "yes") * 1, design, family=sm.families.Binomial(),
        freq_weights=complete_data.weight,
    ).fit(tol=1e-12)  # fmt: skip
    assert answer.columns["coefficient"] == pytest.approx(fitted.params.tolist())
    # The sandwich by hand: A^-1 (sum w^2 r^2 xx') A^-1 n / (n - k).
    x, w = design.to_numpy(), complete_data.weight.to_numpy()
    mu = fitted.predict(design).to_numpy()
    r = (complete_data.works == "yes").to_numpy() - mu
    bread = np.linalg.inv((x * (w * mu * (1 - mu))[:, None]).T @ x)
    cover = bread @ (x * (w * r)[:, None] ** 2).T @ x @ bread * len(x) / (len(x) - 2)
    assert answer.columns["standard_error"] == pytest.approx((cover.diagonal() ** 0.5).tolist())


def test_a_category_that_predicts_perfectly_has_no_estimate(guarded, model_data):
    perfect = pl.when(pl.col("region") == "East").then(pl.lit("yes")).otherwise(pl.col("works"))
    server = guarded(model_data.with_columns(works=perfect))
    answer = server.ask({"method": "logistic", "formula": "works ~ region", "event": "yes"})
    assert (answer.is_refusal, answer.rule) == (True, "estimate")


@pytest.mark.parametrize("event", ["perhaps", "YES", ""])
def test_the_event_must_be_a_category(open_server, event):
    answer = open_server.ask({"method": "logistic", "formula": "works ~ age", "event": event})
    assert (answer.is_refusal, answer.rule) == (True, "request")


def test_the_response_cannot_be_transformed(open_server):
    answer = open_server.ask({"method": "logistic", "formula": "log(works) ~ age", "event": "yes"})
    assert answer.is_refusal
