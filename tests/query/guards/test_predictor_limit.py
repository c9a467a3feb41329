"""The 21st predictor is one too many; interactions do not count."""

import numpy as np
import polars as pl

from tacit import query


def ask(guarded, model_data, formula, most):
    server = guarded(model_data, query.PredictorLimit(most=most))
    return server.ask({"method": "ols", "formula": formula})


def test_too_many_predictors(guarded, model_data):
    answer = ask(guarded, model_data, "wage ~ age + size + sex", 2)
    assert (answer.is_refusal, answer.rule) == (True, "predictor-limit")


def test_interactions_and_transformations_do_not_count(guarded, model_data):
    assert not ask(guarded, model_data, "wage ~ age*sex + square(age)", 2).is_refusal


def test_the_default_policy_takes_twenty_and_no_more():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=2000) for j in range(22)})
    source = query.Source(frame, bins=dict.fromkeys(frame.columns, ()))
    server = query.Server(source, secret="a long and secret phrase")  # noqa: S106
    names = [f"x{j}" for j in range(1, 22)]
    for n, rule in ((20, None), (21, "predictor-limit")):
        request = {"method": "ols", "formula": f"x0 ~ {' + '.join(names[:n])}"}
        answer = server.ask(request)
        assert getattr(answer, "rule", None) == rule
