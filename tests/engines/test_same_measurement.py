"""Every measure and every masking method gives the same on DuckDB, PostgreSQL and Spark.

DuckDB in every run; the round through all methods on PostgreSQL and Spark is slow, because each
method asks the engine several times.
"""

from dataclasses import replace
from functools import cache

import duckdb
import numpy as np
import pytest
from polars.testing import assert_frame_equal

import tacit
from tacit import mask
from tacit.core.data import ROW
from tacit.core.errors import TacitError

DATA = tacit.datasets.census(300)
PLAN = tacit.Plan([mask.Recode(column="region", level=1), mask.Round(columns=["income"], base=7)])
MEASURES = [*tacit.methods("risk"), *tacit.methods("utility")]


def in_duckdb(data):
    return tacit.Microdata.of(duckdb.from_arrow(data.frame.to_arrow())).with_schema(data.schema)


@cache
def released():
    return PLAN.apply(DATA, seed=2)


def without_numbers():
    """Return the released records without the hidden numbers, which no engine has."""
    data = released().data
    return replace(data, lazy=data.lazy.drop(ROW))


@cache
def expected(method):
    return measured(method, DATA, without_numbers())


def measured(method, original, data):
    """Return the number of a release whose two sides may live in an engine, or the refusal."""
    release = replace(released(), original=original, data=data)
    try:
        return method(**method.example).measure(original, release).value
    except TacitError as error:
        return str(error)


def check_measure(method, build):
    found, wanted = measured(method, build(DATA), build(without_numbers())), expected(method)
    assert found == (wanted if isinstance(wanted, str) else pytest.approx(wanted, nan_ok=True))


@pytest.mark.parametrize("method", MEASURES, ids=lambda m: m.key)
def test_duckdb_measures_as_polars_does(method):
    check_measure(method, in_duckdb)


@pytest.mark.slow
@pytest.mark.postgres
def test_postgresql_measures_as_polars_does(postgres):
    def build(data):
        table = "measured_original" if "person_id" in data.columns else "measured_release"
        if table not in built:
            tacit.write(data.frame.with_row_index("place"), postgres.url, table=table)
            built[table] = tacit.read(postgres.url, table=table, order_by="place").drop(["place"])
        return built[table].with_schema(data.schema)

    built = {}
    for method in MEASURES:
        check_measure(method, build)


@pytest.mark.slow
@pytest.mark.spark
def test_spark_measures_and_masks_as_polars_does(spark):
    def build(data):
        frame = spark.createDataFrame(data.frame.to_arrow()).coalesce(1)
        return tacit.Microdata.of(frame).with_schema(data.schema)

    for method in MEASURES:
        check_measure(method, build)
    for method in tacit.methods("mask"):
        plan = tacit.Plan([method(**method.example)])
        here, there = plan.apply(DATA, seed=5), plan.apply(build(DATA), seed=5)
        assert_frame_equal(
            there.data.local.select(here.data.columns),
            here.data.local.select(here.data.columns),
            check_dtypes=False,
        )
        assert np.array_equal(here.rows, there.rows)
