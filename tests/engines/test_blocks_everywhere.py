"""Methods that work per block give the same records on Polars, DuckDB, PostgreSQL and Spark.

The plan is the realistic one: recoding, top coding, local suppression, MDAV, PRAM. A breaker then
looks for rare keys and rare values in what Spark has made.
"""

from functools import cache

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.engines.everywhere import every

import tacit
from tacit import mask, risk
from tacit.core import engine_keys
from tacit.core.errors import TacitError

DATA = tacit.datasets.census(1200, missing=0.03)
COMPLETE = tacit.datasets.census(1200)
KEYS = ["region", "sex", "age"]
PLAN = tacit.Plan(
    [
        mask.Recode(column="age", width=10),
        mask.TopCode(column="hours", quantile=0.9, replacement="mean"),
        mask.LocalSuppression(keys=KEYS, k=3, missing="strict"),
        mask.Mdav(columns=["income", "taxes"], k=3),
        mask.Pram(columns=["marital"], stay=0.7),
    ]
)
AT_SCALE = [m for m in tacit.methods("mask") if m.at_scale != "collect"]


def in_duckdb(data):
    return tacit.Microdata.of(duckdb.from_arrow(data.frame.to_arrow())).with_schema(data.schema)


@pytest.fixture(scope="module")
def expected():
    return PLAN.apply(DATA, seed=4, blocks=200)


def check_same(release, expected):
    """Check that records, their order, types as far as the engine has them, and schema agree."""
    frame = release.data.local.select(release.data.columns)
    assert_frame_equal(frame, expected.frame, check_dtypes=False, rel_tol=1e-12)
    assert release.data.schema == expected.data.schema


def breaker(frame, keys, k):
    """Return the records that somebody who knows the keys could point at."""
    return frame.group_by(keys).len().filter(pl.col("len") < k).height


def test_duckdb(expected):
    release = PLAN.apply(in_duckdb(DATA), seed=4, blocks=200)
    assert isinstance(release.frame, duckdb.DuckDBPyRelation)
    check_same(release, expected)


@cache
def expected_of(method):
    """Return what Polars gives: with missing values, or else without."""
    plan = tacit.Plan([method(**method.example)])
    try:
        return plan.apply(DATA, seed=5, blocks=300)
    except TacitError:
        return plan.apply(COMPLETE, seed=5, blocks=300)


@every(AT_SCALE, ["duckdb"])
def test_every_method_that_says_so(method, enter):
    expected = expected_of(method)
    check_same(expected.plan.apply(enter(expected.original), seed=5, blocks=300), expected)


@pytest.mark.slow
@every(AT_SCALE, ["postgresql", "spark"])
def test_every_method_that_says_so_on_a_server_and_a_cluster(method, enter):
    expected = expected_of(method)
    check_same(expected.plan.apply(enter(expected.original), seed=5, blocks=300), expected)


@pytest.mark.postgres
def test_postgresql(postgres, expected):
    postgres.run("DROP TABLE IF EXISTS block_people")
    numbered = DATA.frame.with_row_index("place")
    tacit.write(numbered, postgres.url, table="block_people")
    table = tacit.read(postgres.url, table="block_people", order_by="place").drop(["place"])
    check_same(PLAN.apply(table.with_schema(DATA.schema), seed=4, blocks=200), expected)


@pytest.mark.slow
@pytest.mark.spark
def test_spark_end_to_end(spark, expected, monkeypatch):
    monkeypatch.setattr(engine_keys, "MANY_RECORDS", 10)
    frame = spark.createDataFrame(DATA.frame.to_arrow()).repartition(3)
    original = tacit.Microdata.of(frame).with_schema(DATA.schema)
    release = PLAN.apply(original, seed=4, blocks=200)
    assert type(release.frame) is type(frame)
    found = pl.from_arrow(release.frame.toArrow())
    # repartition has moved the records: the same ones, in the order of Spark's partitions
    wanted = expected.frame.with_columns(pl.col("hours", "income", "taxes").round(6))
    found = found.with_columns(pl.col("hours", "income", "taxes").round(6)).select(wanted.columns)
    order = wanted.columns
    assert_frame_equal(found.sort(order), wanted.sort(order), check_dtypes=False)
    assert breaker(found, KEYS, 3) == 0
    assert breaker(found, ["income", "taxes"], 3) == 0
    assert breaker(pl.from_arrow(frame.toArrow()), ["income", "taxes"], 3) > 0
    in_engine = risk.KAnonymity(keys=KEYS).measure(original, release)
    assert in_engine.value == risk.KAnonymity(keys=KEYS).measure(expected.data).value
    assert in_engine.per_unit is None
