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


BOUNDED = [
    {"method": "ols", "formula": "wage ~ age + region + size", "weighted": True},
    {"method": "ols", "formula": "wage ~ square(age) + log(size) + sex*age"},
    {"method": "ols", "formula": "wage ~ sqrt(size) + region*sex", "huber": True},
    {"method": "logistic", "formula": "works ~ age*size + region", "event": "yes"},
    {"method": "correlation", "columns": ["size", "wage"], "weighted": True},
]


@pytest.mark.parametrize("request_", BOUNDED, ids=lambda r: r.get("formula", "correlation"))
def test_the_bound_is_never_below_the_largest_leverage(guarded, model_data, monkeypatch, request_):
    seen = []

    def look(self, request, context):
        seen.append(context.evidence)
        return context

    monkeypatch.setattr(query.Leverage, "check", look)
    assert not guarded(model_data, query.Leverage()).ask(request_).is_refusal
    (model,) = seen
    assert model.leverage <= model._leverage_bound < np.inf


def test_no_record_is_read_where_the_bound_settles_it(guarded, model_data, monkeypatch):
    """A design of ages and regions on 1 500 records is far from any limit."""

    def unexpected(*parts):
        raise AssertionError("the leverage of each unit was looked for")

    monkeypatch.setattr("tacit.query._moments_influence._with_leverage", unexpected)
    request = {"method": "ols", "formula": "wage ~ age + region"}
    answer = guarded(model_data, query.Leverage(), query.ScoreNoise()).ask(request)
    assert not answer.is_refusal


def test_the_bound_settles_nothing_where_units_have_several_records(guarded, model_data):
    copied = pl.concat([model_data.with_row_index("unit")] * 2)
    server = guarded(copied, query.Leverage(n0=2), unit="unit")
    assert not server.ask(REQUEST).is_refusal
    outlier = pl.concat(
        [copied, copied.head(1).with_columns(size=pl.lit(1e6)), copied.tail(1)], how="vertical"
    )
    assert guarded(outlier, query.Leverage(n0=2), unit="unit").ask(REQUEST).rule == "leverage"
