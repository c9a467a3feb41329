"""The carrier on Spark: records are numbered across partitions, blocks meet on one worker."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.block_spark import SparkCarrier, _PerBatch, _plain, _spark_schema
from tacit.core.block_task import Sampler
from tacit.core.data import ROW

pytestmark = pytest.mark.spark


def test_records_are_numbered_in_the_order_of_the_partitions(spark):
    frame = spark.range(1000, numPartitions=3).withColumnRenamed("id", "x")
    entered = SparkCarrier(spark).enter(tacit.Microdata.of(frame))
    table = entered.local
    assert table["x"].to_list() == table[ROW].to_list() == list(range(1000))


def test_a_chooser_runs_on_the_workers(spark):
    data = SparkCarrier(spark).enter(tacit.Microdata.of(spark.range(100, numPartitions=2)))
    kept = SparkCarrier(spark).filtered(data, Sampler(2, salt=5))
    expected = Sampler(2, salt=5)(pl.DataFrame({"id": range(100)}))
    assert 20 < expected.height < 80
    assert np.array_equal(np.sort(kept["id"].to_numpy()), expected["id"].to_numpy())


def test_types_that_spark_reads():
    import pyarrow as pa

    assert _plain(pa.large_string()) == pa.string()
    assert _plain(pa.int64()) == pa.int64()
    names = _spark_schema({"t": pl.String, "x": pl.Float64, "d": pl.Date}).simpleString()
    assert names == "struct<t:string,x:double,d:date>"


def test_batches_without_records_give_nothing():
    assert list(_PerBatch(Sampler(2, salt=5))([])) == []
