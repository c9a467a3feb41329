"""Blocks on one machine: DuckDB sorts on disk, blocks pass through memory one at a time.

What a step made is kept in a private folder until the next step has read it; the release and its
original stay there until the program ends, because a DuckDB relation reads them when it is used.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.block_task import BLOCK, BUCKET, LEAF, BlockTask, each_block
from tacit.core.blocks import N_BUCKETS, Numbering
from tacit.core.data import ROW, Microdata

_BATCH = 25_000
"""Records that pass at a time."""
_LEAVES_AT_A_TIME = 16
"""Leaves whose buckets are counted in one query: about a million rows that come back."""
_MEMORY = "memory_limit"


@dataclass(frozen=True)
class DuckDbCarrier:
    """A private DuckDB with a folder for what does not fit in memory."""

    connection: Any
    folder: Path
    kept: list[Path] = field(default_factory=list)
    """Files that are still needed: the numbered original first, then what the steps made."""

    @classmethod
    def of(cls, data: Microdata) -> DuckDbCarrier:
        """Open a carrier with the memory that the data's own connection may use."""
        import duckdb

        folder = Path(tempfile.mkdtemp(prefix="tacit-blocks-"))  # readable by its owner only
        connection = duckdb.connect(str(folder / "blocks.duckdb"))
        for name, value in _settings(data).items():
            connection.execute(f"SET {name} = '{value}'")
        connection.execute(f"SET temp_directory = '{folder}'")
        connection.execute("SET enable_progress_bar = false")  # it would go to standard output
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return cls(connection, folder)

    def enter(self, data: Microdata) -> Microdata:
        """Return the data with their records numbered, on disk."""
        return replace(data, lazy=self._stored(_numbered(_batches(data.lazy, data.columns))))

    def leave(self, data: Microdata, original: Microdata) -> Microdata:
        """Return the records in the order of the original, as the kind of frame that came in."""
        ordered = replace(data, lazy=data.lazy.sort(ROW))
        if original.lazy.implementation is nw.Implementation.POLARS:
            table = ordered.lazy.collect("polars").to_native()
            shutil.rmtree(self.folder, ignore_errors=True)
            return ordered._holding(table, data.schema)
        stored = self._stored(_batches(ordered.lazy, [*data.columns, ROW]))
        self._forget()
        return replace(ordered, lazy=stored)

    def filtered(self, data: Microdata, chooser: Callable[[Any], Any]) -> Any:
        """Return the records that `chooser` keeps, in memory."""
        import polars as pl

        batches = _batches(data.lazy, [*data.columns, ROW])
        return pl.concat([_by_itself(chooser(batch)) for batch in batches])

    def assigned(self, data: Microdata, assign: Callable[[Any], Any]) -> Any:
        """Store the records with their leaves and buckets."""
        batches = _batches(data.lazy, [*data.columns, ROW])
        return self._stored(assign(batch) for batch in batches)

    def extended(self, data: Microdata, work: Callable[[Any], Any], _new: Sequence[str]) -> Any:
        """Store the records with new columns of whole numbers that `work` adds to each part."""
        return self._stored(work(batch) for batch in _batches(data.lazy, data.columns))

    def leaf_counts(self, staged: Any, n_leaves: int) -> np.ndarray:
        """Count the records of each leaf."""
        return counted(staged, LEAF, n_leaves)

    def bucket_counts(self, staged: Any, leaves: list[int]) -> dict[int, np.ndarray]:
        """Count the records of each bucket of some leaves."""
        return counted_buckets(staged, leaves)

    def run(self, staged: Any, numbering: Numbering, task: BlockTask) -> Any:
        """Apply the task to each block, one after the other."""
        import polars as pl

        table = pl.DataFrame(
            {LEAF: numbering.leaf, "first": numbering.first, "last": numbering.last,
             BLOCK: numbering.block}
        ).to_arrow()  # fmt: skip
        self.connection.register("numbering", table)
        staged.to_native().create_view("staged", replace=True)
        sorted_blocks = self.connection.sql(
            f"SELECT s.*, n.{BLOCK} FROM staged s JOIN numbering n ON s.{LEAF} = n.{LEAF} "  # noqa: S608
            f"AND s.{BUCKET} BETWEEN n.first AND n.last ORDER BY n.{BLOCK}"
        )
        batches = _arrow_batches(sorted_blocks.to_arrow_reader(_BATCH))
        result = self._stored(each_block(batches, task.on))
        self._forget()
        return result

    def _forget(self) -> None:
        """Remove what lies between the original and the last result."""
        for path in self.kept[1:-1]:
            shutil.rmtree(path.parent, ignore_errors=True)
        del self.kept[1:-1]

    def _stored(self, batches: Iterable[Any]) -> nw.LazyFrame[Any]:
        """Write batches to a file of the folder as they come, and return it as a lazy frame."""
        import pyarrow.parquet as pq

        path = Path(tempfile.mkdtemp(dir=self.folder)) / "records.parquet"
        writer, arrow_schema = None, None
        try:
            for batch in batches:
                table = batch.to_arrow()
                if writer is None:
                    arrow_schema = table.schema
                    writer = pq.ParquetWriter(path, arrow_schema, compression="snappy")
                writer.write_table(table.cast(arrow_schema))
        finally:
            if writer is not None:
                writer.close()
        self.kept.append(path)
        lazy: nw.LazyFrame[Any] = nw.from_native(self.connection.read_parquet(str(path))).lazy()
        return lazy


def counted(frame: Any, column: str, n: int) -> np.ndarray:
    """Count in the engine how often each of the numbers below `n` occurs."""
    found = frame.group_by(column).agg(nw.len().alias("n")).collect("polars").to_native()
    counts = np.zeros(n, dtype=np.int64)
    counts[found[column].to_numpy()] = found["n"].to_numpy()
    return counts


def counted_buckets(staged: Any, leaves: list[int]) -> dict[int, np.ndarray]:
    """Count the records of each bucket of some leaves, several leaves at a time."""
    counts = {leaf: np.zeros(N_BUCKETS, dtype=np.int64) for leaf in leaves}
    for start in range(0, len(leaves), _LEAVES_AT_A_TIME):
        some = leaves[start : start + _LEAVES_AT_A_TIME]
        grouped = staged.filter(nw.col(LEAF).is_in(some)).group_by(LEAF, BUCKET)
        found = grouped.agg(nw.len().alias("n")).collect("polars").to_native()
        for (leaf,), part in found.partition_by(LEAF, as_dict=True).items():
            counts[leaf][part[BUCKET].to_numpy()] = part["n"].to_numpy()
    return counts


def _settings(data: Microdata) -> dict[str, str]:
    """Return the bounds of the connection that the data live in, where there is one."""
    if data.lazy.implementation is not nw.Implementation.DUCKDB:
        return {}
    names = f"'{_MEMORY}', 'threads'"
    relation = data.lazy.to_native()
    found = relation.query(
        "records",
        f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names})",  # noqa: S608
    )
    return dict(found.fetchall())


def _batches(lazy: nw.LazyFrame[Any], columns: list[str]) -> Iterator[Any]:
    """Yield the records as Polars frames, a part at a time."""
    chosen = lazy.select(columns)
    if lazy.implementation is nw.Implementation.POLARS:
        table = chosen.collect().to_native()
        yield from table.iter_slices(_BATCH) if table.height else [table]
    elif lazy.implementation is nw.Implementation.DUCKDB:
        yield from _arrow_batches(chosen.to_native().to_arrow_reader(_BATCH))
    else:
        yield from _arrow_batches(chosen.to_native().to_pyarrow_batches(chunk_size=_BATCH))


def _arrow_batches(reader: Any) -> Iterator[Any]:
    import polars as pl
    import pyarrow as pa

    empty = True
    for batch in reader:
        if batch.num_rows:
            empty = False
            yield pl.from_arrow(pa.Table.from_batches([batch]))
    if empty:
        yield pl.from_arrow(reader.schema.empty_table())


def _by_itself(table: Any) -> Any:
    """Return a few records of a batch without the texts of all others, which they would hold."""
    import polars as pl

    return pl.from_arrow(table.to_arrow(compat_level=pl.CompatLevel.oldest()))


def _numbered(batches: Iterable[Any]) -> Iterator[Any]:
    start = 0
    for batch in batches:
        numbered = batch.with_row_index(ROW, offset=start)
        start += batch.height
        yield numbered.with_columns(numbered[ROW].cast(int))
