"""Cell keys are added up inside the engine and give what they give in memory."""

import duckdb
import numpy as np
import polars as pl
import pytest

import tacit
from tacit import tables

_OPTIONS = {"by": ["region", "education", "sex"], "weights": None, "keys": ["rk1", "rk2"]}


@pytest.fixture(scope="module")
def keyed() -> pl.DataFrame:
    """Persons with their record keys."""
    people = tacit.datasets.census(2000, seed=3)
    return tables.with_record_keys(people, "a long and secret phrase", unit="person_id").local


def _check_equal(engine, keyed: pl.DataFrame) -> None:
    """Check that counts, key sums and totals are those of Polars."""
    here, there = (tacit.tabulate(frame, **_OPTIONS) for frame in (keyed, engine))
    assert there.key_sums["rk1"].tolist() == here.key_sums["rk1"].tolist()
    published = [t.protect(tables.CellKey()).published.tolist() for t in (here, there)]
    assert published[0] == published[1]
    totals = [
        tacit.tabulate(frame, value="income", **_OPTIONS)
        .protect(tables.CellKeyMagnitude())
        .published
        for frame in (keyed, engine)
    ]
    np.testing.assert_allclose(totals[1], totals[0], rtol=1e-12)


def test_duckdb_publishes_what_polars_does(keyed, tmp_path):
    path = tmp_path / "people.parquet"
    keyed.write_parquet(path)
    _check_equal(duckdb.read_parquet(str(path)), keyed)


@pytest.mark.postgres
def test_postgresql_publishes_what_polars_does(keyed, postgres):
    postgres.run("DROP TABLE IF EXISTS people")
    tacit.write(keyed, postgres.url, table="people")
    _check_equal(tacit.read(postgres.url, table="people"), keyed)


@pytest.mark.spark
def test_spark_publishes_what_polars_does(keyed, spark):
    _check_equal(spark.createDataFrame(keyed.to_arrow()), keyed)
