"""A category whose response is nearly known is refused, though the model fits badly overall."""

import polars as pl
import pytest

from tacit import query


def served(guarded, model_data, value):
    exact = pl.when(pl.col("region") == "Süd").then(value).otherwise(pl.col("wage"))
    return guarded(model_data.with_columns(wage=exact), query.RSquared(), query.GroupFit())


@pytest.mark.parametrize("jitter", [0.0, 1e-3])
def test_a_category_predicted_well(guarded, model_data, jitter):
    server = served(guarded, model_data, 30 + jitter * pl.col("size"))
    answer = server.ask({"method": "ols", "formula": "wage ~ region"})
    assert (answer.is_refusal, answer.rule) == (True, "group-fit")


def test_a_logistic_category_predicted_well(guarded, model_data):
    known = pl.when((pl.col("region") == "Süd") & (pl.int_range(pl.len()) != 2)).then(pl.lit("no"))
    server = guarded(
        model_data.with_columns(works=known.otherwise(pl.col("works"))), query.GroupFit()
    )
    answer = server.ask({"method": "logistic", "formula": "works ~ region", "event": "yes"})
    assert answer.is_refusal


@pytest.mark.parametrize("formula", ["wage ~ region", "log(size) ~ region + sex", "visits ~ sex"])
def test_honest_models_pass(guarded, model_data, formula):
    server = guarded(model_data, query.GroupFit())
    assert not server.ask({"method": "ols", "formula": formula}).is_refusal


def test_the_reference_predicted_well(guarded, model_data):
    exact = pl.when(pl.col("region") == "North").then(30.0).otherwise(pl.col("wage"))
    server = guarded(model_data.with_columns(wage=exact), query.GroupFit())
    assert server.ask({"method": "ols", "formula": "wage ~ region"}).rule == "group-fit"


def test_what_cannot_be_looked_at_is_refused(guarded, model_data, monkeypatch):
    """With too many combinations, sums are taken column by column and no category is seen."""
    monkeypatch.setattr("tacit.query._moments_rows._MOST_GROUPS", 1)
    server = guarded(model_data, query.GroupFit())
    assert server.ask({"method": "ols", "formula": "wage ~ region"}).rule == "group-fit"
    assert not server.ask({"method": "ols", "formula": "wage ~ age"}).is_refusal
