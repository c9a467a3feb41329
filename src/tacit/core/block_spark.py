"""Blocks on a cluster: Spark brings the records of a block together, workers mask them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.block_duckdb import counted, counted_buckets
from tacit.core.block_task import BLOCK, BUCKET, LEAF, BlockTask, each_block
from tacit.core.blocks import Numbering
from tacit.core.data import ROW, Microdata

_WITHIN_PARTITION = (1 << 33) - 1
"""Bits of Spark's increasing numbers that count inside a partition."""
_BLOCKS_PER_TASK = 8
"""Blocks that one task works on, about: enough to pay for its start, few enough to spread."""


def _without_pandas_warning(method: Any) -> Any:
    """Silence what Spark says about pandas whenever it meets Arrow: no pandas is used here."""

    @functools.wraps(method)
    def quiet(*arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            return method(*arguments)

    return quiet


@dataclass
class SparkCarrier:
    """A Spark session and what it holds of the step before."""

    session: Any
    held: Any = None
    """The result of the last step, which the next one reads."""

    def enter(self, data: Microdata) -> Microdata:
        """Return the data with their records numbered in the order of the partitions.

        They are held, so that all steps see the same partitions and read the source once.
        """
        from pyspark.sql import functions as F

        frame = data.lazy.select(data.columns).to_native().persist()
        part = F.spark_partition_id()
        sizes = frame.groupBy(part.alias("part")).count().collect()
        starts, start = [], 0
        n_in = {row["part"]: row["count"] for row in sizes}
        for number in range(max(n_in, default=-1) + 1):
            starts.append(start)
            start += n_in.get(number, 0)
        place = F.monotonically_increasing_id().bitwiseAND(_WITHIN_PARTITION)
        first = F.element_at(F.array(*map(F.lit, starts or [0])), part + 1)
        return replace(data, lazy=_lazy(frame.withColumn(ROW, (first + place).cast("long"))))

    def leave(self, data: Microdata, original: Microdata) -> Microdata:
        """Return the records in the order of the original: any other would tell about values."""
        return replace(data, lazy=data.lazy.sort(ROW))

    @_without_pandas_warning
    def filtered(self, data: Microdata, chooser: Callable[[Any], Any]) -> Any:
        """Return the records that `chooser` keeps, in memory."""
        import polars as pl

        frame = data.lazy.select([*data.columns, ROW]).to_native()
        return pl.from_arrow(frame.mapInArrow(_PerBatch(chooser), frame.schema).toArrow())

    @_without_pandas_warning
    def assigned(self, data: Microdata, assign: Callable[[Any], Any]) -> Any:
        """Return the records with their leaves and buckets, held for the passes to come."""
        frame = data.lazy.select([*data.columns, ROW]).to_native()
        fields = _with_numbers(frame, LEAF, BUCKET)
        return _lazy(frame.mapInArrow(_PerBatch(assign), fields).persist())

    @_without_pandas_warning
    def extended(self, data: Microdata, work: Callable[[Any], Any], new: Sequence[str]) -> Any:
        """Return the records with new columns of whole numbers that `work` adds to each part."""
        frame = data.lazy.select(data.columns).to_native()
        return _lazy(frame.mapInArrow(_PerBatch(work), _with_numbers(frame, *new)))

    def leaf_counts(self, staged: Any, n_leaves: int) -> np.ndarray:
        """Count the records of each leaf."""
        return counted(staged, LEAF, n_leaves)

    def bucket_counts(self, staged: Any, leaves: list[int]) -> dict[int, np.ndarray]:
        """Count the records of each bucket of some leaves."""
        return counted_buckets(staged, leaves)

    @_without_pandas_warning
    def run(self, staged: Any, numbering: Numbering, task: BlockTask) -> Any:
        """Bring the records of each block together and apply the task to it, on the workers."""
        import polars as pl
        from pyspark.sql import functions as F

        small = pl.DataFrame(
            {"leaf": numbering.leaf, "first": numbering.first, "last": numbering.last,
             BLOCK: numbering.block}
        ).to_arrow()  # fmt: skip
        table = F.broadcast(self.session.createDataFrame(small))
        frame = staged.to_native()
        same = (frame[LEAF] == table["leaf"]) & frame[BUCKET].between(table["first"], table["last"])
        numbered = frame.join(table, same).drop("leaf", "first", "last")
        n_tasks = max(-(-numbering.n_blocks // _BLOCKS_PER_TASK), 1)
        gathered = numbered.repartition(n_tasks, BLOCK).sortWithinPartitions(BLOCK)
        result = gathered.mapInArrow(_PerBlock(task), _spark_schema(task.types)).persist()
        result.count()  # now, so that what it was made from can go
        frame.unpersist()
        if self.held is not None:
            self.held.unpersist()
        self.held = result
        return _lazy(result)


@dataclass(frozen=True)
class _PerBatch:
    """Work on each batch by itself."""

    work: Callable[[Any], Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for table in _polars(batches):
            yield from _arrow(self.work(table))


@dataclass(frozen=True)
class _PerBlock:
    """Work on each block of a partition that is sorted by block."""

    task: BlockTask

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for table in each_block(_polars(batches), self.task.on):
            yield from _arrow(table)


def _polars(batches: Iterable[Any]) -> Iterator[Any]:
    import polars as pl
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            yield pl.from_arrow(pa.Table.from_batches([batch]))


def _arrow(table: Any) -> Iterator[Any]:
    import pyarrow as pa

    found = table.to_arrow()
    plain = [pa.field(f.name, _plain(f.type)) for f in found.schema]
    yield from found.cast(pa.schema(plain)).to_batches()


def _plain(dtype: Any) -> Any:
    """Return the Arrow type that Spark reads in place of one it does not."""
    import pyarrow as pa

    return pa.string() if pa.types.is_large_string(dtype) or dtype == pa.string_view() else dtype


def _with_numbers(frame: Any, *names: str) -> Any:
    """Return the types of a frame and of further columns of whole numbers."""
    fields = type(frame.schema)(list(frame.schema.fields))
    for name in names:
        fields = fields.add(name, "long")
    return fields


def _spark_schema(types: Any) -> Any:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    arrow = pl.DataFrame(schema=types).to_arrow().schema
    return from_arrow_schema(pa.schema([pa.field(f.name, _plain(f.type)) for f in arrow]))


def _lazy(frame: Any) -> nw.LazyFrame[Any]:
    lazy: nw.LazyFrame[Any] = nw.from_native(frame).lazy()
    return lazy
