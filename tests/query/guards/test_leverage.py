"""The largest leverage is found exactly, on the design that is really used."""

import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf

from tacit import query

REQUEST = {"method": "ols", "formula": "wage ~ age + region + size"}


def largest(data):
    fitted = smf.ols("wage ~ age + C(region) + size", data).fit()
    x = fitted.model.exog
    return (x @ np.linalg.inv(x.T @ x) * x).sum(axis=1).max()


def test_the_limit_is_where_it_should_be(guarded, model_data, complete_data):
    h = largest(complete_data)
    n0 = int(1 / h)
    assert 1 / n0 >= h > 1 / (n0 + 1)
    assert not guarded(model_data, query.Leverage(n0=n0)).ask(REQUEST).is_refusal
    answer = guarded(model_data, query.Leverage(n0=n0 + 1)).ask(REQUEST)
    assert (answer.is_refusal, answer.rule) == (True, "leverage")


def test_missing_values_do_not_hide_a_unit(guarded, model_data):
    """R7: the response is missing for all but one unit of a category."""
    first = pl.col("region").is_first_distinct()
    hidden = model_data.with_columns(
        wage=pl.when((pl.col("region") != "Süd") | first).then(pl.col("wage"))
    )
    answer = guarded(hidden, query.Leverage()).ask(REQUEST)
    assert (answer.is_refusal, answer.rule) == (True, "leverage")


def test_weights_count(guarded, model_data):
    """R7: one unit's weight is so large that the model is about it."""
    heavy = model_data.with_columns(
        weight=pl.when(pl.int_range(pl.len()) == 3).then(1e5).otherwise(1.0)
    )
    server = guarded(heavy, query.Leverage())
    assert not server.ask(REQUEST).is_refusal
    assert server.ask({**REQUEST, "weighted": True}).rule == "leverage"


def test_copies_of_a_record_do_not_hide_their_unit(guarded, model_data):
    alone = model_data.with_row_index("unit").with_columns(
        size=pl.when(pl.int_range(pl.len()) == 0).then(60.0).otherwise(pl.col("size"))
    )
    copied = pl.concat([alone, *[alone.head(1)] * 60])
    answer = guarded(copied, query.Leverage(n0=5), unit="unit").ask(REQUEST)
    assert answer.rule == "leverage"


@pytest.mark.parametrize("method", ["logistic", "poisson"])
def test_links_do_not_hide_a_unit(guarded, model_data, method):
    """A perfectly predicted unit has no working weight, but it has leverage in the design."""
    lonely = model_data.with_columns(
        size=pl.when(pl.int_range(pl.len()) == 5).then(1e6).otherwise(pl.col("size"))
    )
    formula = {"logistic": "works ~ size", "poisson": "visits ~ size"}[method]
    event = {"event": "yes"} if method == "logistic" else {}
    answer = guarded(lonely, query.Leverage()).ask({"method": method, "formula": formula, **event})
    assert answer.is_refusal


def test_correlations_of_one_outlier(guarded, model_data):
    lonely = model_data.with_columns(
        size=pl.when(pl.int_range(pl.len()) == 5).then(1e6).otherwise(pl.col("size"))
    )
    answer = guarded(lonely, query.Leverage()).ask(
        {"method": "correlation", "columns": ["size", "wage"]}
    )
    assert answer.rule == "leverage"
