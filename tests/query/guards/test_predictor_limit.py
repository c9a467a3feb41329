"""The 21st predictor is one too many; interactions do not count."""

from tacit import query


def ask(guarded, model_data, formula, most):
    server = guarded(model_data, query.PredictorLimit(most=most))
    return server.ask({"method": "ols", "formula": formula})


def test_too_many_predictors(guarded, model_data):
    answer = ask(guarded, model_data, "wage ~ age + size + sex", 2)
    assert (answer.is_refusal, answer.rule) == (True, "predictor-limit")


def test_interactions_and_transformations_do_not_count(guarded, model_data):
    assert not ask(guarded, model_data, "wage ~ age*sex + square(age)", 2).is_refusal


def test_twenty_by_default():
    assert query.PredictorLimit().most == 20
