"""Blocks on a cluster: Spark brings the records of a block together, workers mask them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.block_duckdb import counted
from tacit.core.block_task import BLOCK, BUCKET, LEAF, BlockTask, each_block
from tacit.core.blocks import N_BUCKETS, Numbering
from tacit.core.data import ROW, Microdata

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

    @_without_pandas_warning
    def enter(self, data: Microdata) -> Microdata:
        """Return the data with their records numbered in the order of the partitions."""
        frame = data.lazy.select(data.columns).to_native()
        sizes = frame.mapInArrow(_counted, "part int, n long").groupBy("part").sum("n").collect()
        offsets, start = {}, 0
        for part, n in sorted((row[0], row[1]) for row in sizes):
            offsets[part], start = start, start + n
        numbered = frame.mapInArrow(_Numberer(offsets), _with_numbers(frame, ROW))
        return replace(data, lazy=_lazy(numbered))

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

    def leaf_counts(self, staged: Any, n_leaves: int) -> np.ndarray:
        """Count the records of each leaf."""
        return counted(staged, LEAF, n_leaves)

    def bucket_counts(self, staged: Any, leaves: list[int]) -> dict[int, np.ndarray]:
        """Count the records of each bucket of some leaves."""
        return {leaf: counted(staged.filter(nw.col(LEAF) == leaf), BUCKET, N_BUCKETS)
                for leaf in leaves}  # fmt: skip

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


@dataclass(frozen=True)
class _Numberer:
    """Number the records of a partition from where the partition before it ends."""

    offsets: dict[int, int]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        start = self.offsets.get(_partition(), 0)
        for table in _polars(batches):
            numbers = np.arange(start, start + table.height, dtype=np.int64)
            start += table.height
            yield from _arrow(table.with_columns(_series(numbers)))


def _series(numbers: np.ndarray) -> Any:
    import polars as pl

    return pl.Series(ROW, numbers)


def _counted(batches: Iterable[Any]) -> Iterator[Any]:
    """Count the records of a partition."""
    import pyarrow as pa

    n = sum(batch.num_rows for batch in batches)
    fields = pa.schema([("part", pa.int32()), ("n", pa.int64())])
    yield pa.RecordBatch.from_pydict({"part": [_partition()], "n": [n]}, schema=fields)


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


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
