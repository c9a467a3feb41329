"""A dummy of few units is refused, whichever way round it is."""

import polars as pl

from tacit import query


def frame(model_data, few):
    return model_data.with_columns(
        sex=pl.when(pl.int_range(pl.len()) < few).then(pl.lit("x")).otherwise(pl.lit("y"))
    )


def test_too_small(guarded, model_data):
    server = guarded(frame(model_data, 9), query.DummySize(minimum=10))
    answer = server.ask({"method": "ols", "formula": "wage ~ sex"})
    assert (answer.is_refusal, answer.rule) == (True, "dummy-size")


def test_large_enough(guarded, model_data):
    server = guarded(frame(model_data, 10), query.DummySize(minimum=10))
    assert not server.ask({"method": "ols", "formula": "wage ~ sex"}).is_refusal


def test_tables_are_not_concerned(guarded, model_data):
    server = guarded(frame(model_data, 2), query.DummySize(minimum=10))
    assert not server.ask({"method": "crosstab", "by": ["sex"]}).is_refusal
