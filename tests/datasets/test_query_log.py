"""The synthetic query log."""

import numpy as np
import polars as pl
import pytest

from tacit.core.schema import Kind
from tacit.datasets import query_log


@pytest.fixture(scope="module")
def log():
    return query_log(600)


def test_columns_roles_and_types(log):
    assert log.columns == ["user", "query", "time", "rank", "url"]
    assert log.schema.identifiers == ["user"]
    assert log.schema["query"].kind == Kind.TEXT
    assert log.schema["time"].kind == Kind.DATE
    assert log.frame.schema["rank"] == pl.Int64


def test_every_user_asks_something_in_order_of_time(log):
    assert log.frame["user"].n_unique() == 600
    for _, part in log.frame.group_by("user"):
        assert part["time"].is_sorted()
    per_user = log.frame.group_by("user").len()["len"]
    assert per_user.min() >= 1
    assert 45 < per_user.mean() < 65


def test_times_are_in_a_fixed_quarter(log):
    assert {t.year for t in log.frame["time"]} == {2006}
    assert {t.month for t in log.frame["time"]} == {3, 4, 5}


def test_rank_and_url_come_together(log):
    frame = log.frame
    assert (frame["rank"].is_null() == frame["url"].is_null()).all()
    assert 0.4 < frame["url"].is_null().mean() < 0.6
    assert frame["rank"].drop_nulls().min() == 1
    assert frame["url"].drop_nulls().str.ends_with(".example").all()


def test_queries_follow_zipf(log):
    counts = np.sort(log.frame["query"].value_counts()["count"].to_numpy())[::-1]
    slope = np.polyfit(np.log(np.arange(1, 101)), np.log(counts[:100]), 1)[0]
    assert -1.3 < slope < -0.5


def test_users_have_favourite_topics(log):
    topic = {path[0]: path[2] for path in log.schema["query"].hierarchy.paths}
    known = log.frame.with_columns(
        topic=pl.col("query").replace_strict(topic, default=None, return_dtype=pl.String)
    ).drop_nulls("topic")
    counts = known.group_by("user", "topic").len()
    top = counts.group_by("user").agg(
        share=pl.col("len").max() / pl.col("len").sum(), n=pl.col("len").sum()
    )
    assert top.filter(pl.col("n") >= 10)["share"].mean() > 0.5


def test_some_users_look_for_themselves(log):
    queries = log.frame["query"]
    assert queries.str.contains("@mail.example").any()
    assert queries.str.contains(r"^555-01\d\d ").any()
    leaves = {path[0] for path in log.schema["query"].hierarchy.paths}
    personal = log.frame.filter(~pl.col("query").is_in(list(leaves)))
    assert 0.01 < len(personal) / len(log.frame) < 0.08
    surnames = (
        personal.filter(~pl.col("query").str.contains("@|555"))
        .group_by("user")
        .agg(pl.col("query").n_unique())
    )
    assert set(surnames["query"]) == {1}
