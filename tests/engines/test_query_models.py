"""Models are released with the same digits by PostgreSQL and Spark as by Polars."""

import numpy as np
import polars as pl
import pytest

from tacit import query
from tacit.query.policy import Policy

REQUESTS = [
    {"method": "ols", "formula": "y ~ g*x + log(z)", "weighted": True},
    {"method": "ols", "formula": "y ~ bin(x) + g", "huber": True},
    {"method": "logistic", "formula": "b ~ x + g", "event": "yes"},
    {"method": "poisson", "formula": "c ~ x"},
    {"method": "correlation", "columns": ["x", "y", "sqrt(z)"]},
]


def frame(n=600):
    rng = np.random.default_rng(8)
    x, g = rng.normal(50, 10, n), rng.choice(["p", "q", "ü"], n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "x": x,
            "z": rng.lognormal(1, 0.5, n) - 0.5,
            "g": g,
            "y": 0.3 * x + (g == "q") + rng.normal(0, 3, n),
            "b": np.where(rng.random(n) < 0.4, "yes", "no"),
            "c": rng.poisson(3, n),
            "w": rng.uniform(1, 2, n),
        }
    )


def released(data):
    guards = (query.Leverage(), query.GroupFit(), query.ScoreNoise(), query.ReleaseDigits())
    source = query.Source(data, unit="id", weight="w", categories=["g", "b"],
                          numbers=["x", "y", "z", "c"])  # fmt: skip
    server = query.Server(
        source, policy=Policy(name="models", guards=guards), secret=b"a long and secret phrase"
    )
    answers = [server.ask(request) for request in REQUESTS]
    assert not [a for a in answers if a.is_refusal]
    return [(a.columns, a.values) for a in answers]


@pytest.mark.postgres
def test_postgres(postgres, monkeypatch):
    import ibis

    monkeypatch.setattr("tacit.query._moments_first._WIDE", 6)
    connection = ibis.connect(postgres.url)
    table = connection.create_table("model_records", frame().to_arrow(), temp=True)
    try:
        assert released(table) == released(frame())
    finally:
        connection.disconnect()


@pytest.mark.slow
@pytest.mark.spark
def test_spark(spark):
    assert released(spark.createDataFrame(frame().to_arrow())) == released(frame())
