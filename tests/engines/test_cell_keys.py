"""Cell keys are added up inside the engine and give what they give in memory."""

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from tests.engines.everywhere import on_every_engine

import tacit
from tacit import tables
from tacit.core.errors import DataError

_OPTIONS = {"by": ["region", "education", "sex"], "weights": None, "keys": ["rk1", "rk2"]}


@pytest.fixture(scope="module")
def keyed() -> pl.DataFrame:
    """Persons with their record keys."""
    people = tacit.datasets.census(2000, seed=3)
    return tables.with_record_keys(people, "a long and secret phrase", unit="person_id").local


@on_every_engine()
def test_keys_are_made_where_the_records_are(keyed, enter):
    """In DuckDB and on Spark part by part, and no record is collected."""
    data = enter(tacit.Microdata.of(keyed.drop("rk1", "rk2")))
    found = tables.with_record_keys(data, "a long and secret phrase", unit="person_id")
    if data.lazy.implementation in (nw.Implementation.DUCKDB, nw.Implementation.PYSPARK):
        assert found.lazy.implementation is data.lazy.implementation
        assert type(found.frame) is type(data.frame)
    assert found.schema.identifiers == ["rk1", "rk2"]
    columns = ["person_id", "rk1", "rk2"]
    assert found.local.select(columns).rows() == keyed.select(columns).rows()


def test_a_unit_whose_name_depends_on_others_is_named_in_memory():
    """17.0 is unit 17 where all are whole, and 17.0 where one is not: parts must not differ."""
    frame = pl.DataFrame({"u": [17.0, 4.0, 2.5]})
    expected = tables.with_record_keys(frame, "a long and secret phrase", unit="u").local
    there = tables.with_record_keys(
        duckdb.from_arrow(frame.to_arrow()), "a long and secret phrase", unit="u"
    )
    assert there.local.rows() == expected.rows()


def test_records_without_a_unit_are_counted_before_keys_are_made():
    frame = duckdb.sql("select case when i > 0 then i end as u from range(3) t(i)")
    with pytest.raises(DataError, match=r"every record needs a unit.*1 without"):
        tables.with_record_keys(frame, "a long and secret phrase", unit="u")


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
