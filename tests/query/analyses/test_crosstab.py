"""Tables agree with Polars."""

from itertools import pairwise

import polars as pl
import pytest


def test_counts_and_totals(serve, people):
    frame = people.with_columns(income=pl.when(pl.col("id") % 7 > 0).then(pl.col("income")))
    answer = serve(frame).ask({"method": "crosstab", "by": ["sex", "region"], "totals": ["income"]})
    expected = (
        frame.group_by("sex", "region").agg(pl.len(), pl.col("income").sum()).sort("sex", "region")
    )
    assert answer.columns["count"] == expected["len"].to_list()
    assert answer.columns["total income"] == pytest.approx(expected["income"].to_list(), rel=1e-9)


def test_weights(serve, people):
    request = {"method": "crosstab", "by": ["region"], "totals": ["income"], "weighted": True}
    answer = serve(people).ask(request)
    expected = people.group_by("region").agg(
        pl.col("w").sum(), (pl.col("w") * pl.col("income")).sum().alias("t")
    ).sort("region")  # fmt: skip
    assert answer.columns["count"] == pytest.approx(expected["w"].to_list(), abs=0.51)
    assert answer.columns["total income"] == pytest.approx(expected["t"].to_list(), rel=1e-9)


def test_margins_are_totals(serve, people):
    table = serve(people).ask({"method": "crosstab", "by": ["sex", "ill"], "margins": True}).frame
    assert table.height == 9
    assert (
        table.filter((pl.col("sex") == "total") & (pl.col("ill") == "total"))["count"].item()
        == 2000
    )


def test_numeric_dimensions_are_binned(serve, people):
    server = serve(people)
    answer = server.ask({"method": "crosstab", "by": ["age"]})
    edges = [-1.0, *server.schema.variable("age").edges, 1e9]
    ages = people["age"].to_numpy()
    expected = [int(((ages >= a) & (ages < b)).sum()) for a, b in pairwise(edges)]
    assert answer.columns["count"] == expected


def test_missing_is_a_category(serve, people):
    frame = people.with_columns(region=pl.when(pl.col("id") >= 50).then(pl.col("region")))
    table = serve(frame).ask({"method": "crosstab", "by": ["region"]}).frame
    assert table.filter(pl.col("region") == "missing")["count"].item() == 50


def test_tables_that_are_too_large_are_refused(serve, people):
    frame = people.with_columns(region=pl.col("id").cast(str), ill=(pl.col("id") % 900).cast(str))
    refusal = serve(frame, categories=["region", "ill"]).ask(
        {"method": "crosstab", "by": ["region", "ill"]}
    )
    assert refusal.rule == "request"
