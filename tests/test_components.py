"""The real components that tests rely on start and answer."""

from typing import Any

import pytest


@pytest.mark.spark
def test_spark_groups_a_frame_that_narwhals_reads(spark: Any):
    import narwhals as nw
    import pyarrow as pa

    frame = spark.createDataFrame(pa.table({"key": ["x", "y", "y", None], "value": [1, 2, 2, 3]}))
    sums = nw.from_native(frame).group_by("key").agg(nw.col("value").sum()).to_native().collect()
    assert {row.key: row.value for row in sums} == {"x": 1, "y": 4, None: 3}


@pytest.mark.postgres
def test_postgres_answers(postgres: Any):
    postgres.run("SELECT 1")
