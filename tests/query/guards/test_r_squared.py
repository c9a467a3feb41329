"""Models that predict nearly perfectly are refused."""

import polars as pl
import pytest

from tacit import query


@pytest.fixture(scope="module")
def server(guarded, model_data):
    nearly = pl.col("wage") * 3 + pl.col("visits") * 0.01
    return guarded(model_data.with_columns(size=nearly), query.RSquared(limit=0.99))


def test_a_function_of_the_predictors(server):
    answer = server.ask({"method": "ols", "formula": "wage ~ size"})
    assert (answer.is_refusal, answer.rule) == (True, "r-squared")


def test_a_correlation_near_one(server):
    answer = server.ask({"method": "correlation", "columns": ["wage", "size"]})
    assert (answer.is_refusal, answer.rule) == (True, "r-squared")


def test_honest_models_pass(server):
    assert not server.ask({"method": "ols", "formula": "wage ~ age"}).is_refusal
    assert not server.ask({"method": "correlation", "columns": ["wage", "age"]}).is_refusal
