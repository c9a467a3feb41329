"""Only listed transformations; the artificial outlier cannot be written."""

import pytest

from tacit import query


@pytest.fixture(scope="module")
def server(guarded, model_data):
    return guarded(model_data, query.Transformations(allowed=("log",)))


@pytest.mark.parametrize("formula", ["wage ~ exp(age)", "wage ~ sqrt(size)", "exp(wage) ~ age"])
def test_others_are_refused(server, formula):
    answer = server.ask({"method": "ols", "formula": formula})
    assert (answer.is_refusal, answer.rule) == (True, "transformations")


def test_correlations_too(server):
    answer = server.ask({"method": "correlation", "columns": ["sqrt(size)", "age"]})
    assert (answer.is_refusal, answer.rule) == (True, "transformations")


def test_the_listed_pass(server):
    assert not server.ask({"method": "ols", "formula": "wage ~ log(size)"}).is_refusal


def test_without_the_guard_unknown_ones_fail_closed(open_server):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ exp(age)"})
    assert (answer.is_refusal, answer.rule) == (True, "transformations")


def test_categories_cannot_be_transformed(open_server):
    assert open_server.ask({"method": "ols", "formula": "wage ~ log(sex)"}).is_refusal


def test_the_artificial_outlier_is_no_formula(open_server):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ 1/(abs(age - 40) + 0.0001)"})
    assert (answer.is_refusal, answer.rule) == (True, "formula")
