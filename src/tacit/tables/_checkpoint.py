"""Intermediate results that are read several times: kept where there is room for them.

Polars keeps them in memory, Spark on its cluster; DuckDB and databases write them to a Parquet file
in a private folder that goes away afterwards, and DuckDB reads them from there, so that what does
not fit in memory still works.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw

from tacit.core.frame import collect

_SHARE_OF_MEMORY = 0.25
PART = 1_000_000
"""Rows of what is on disk that are read at once."""


class Checkpoints:
    """A place for intermediate results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_files = 0
        self.connection: Any = None
        self.persisted: list[Any] = []

    def keep(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute a frame once and return it for further work."""
        match frame.implementation:
            case nw.Implementation.POLARS:
                return _lazy(frame.collect().to_native().lazy())
            case nw.Implementation.PYSPARK:
                kept = frame.to_native().persist()
                self.persisted.append(kept)
                return _lazy(kept)
            case _:
                return self._on_disk(frame)

    def sorted_parts(self, frame: nw.LazyFrame[Any], key: str, *then: str) -> Iterator[Any]:
        """Give a frame as Polars frames, sorted; rows of the same key are never apart."""
        in_order = frame.sort(key, *then)
        if frame.implementation in (nw.Implementation.POLARS, nw.Implementation.PYSPARK):
            yield collect(in_order)
        else:
            yield from _whole_keys(self._written(in_order), key)

    def _on_disk(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        return _lazy(self._reader().read_parquet(str(self._written(frame))))

    def _written(self, frame: nw.LazyFrame[Any]) -> Path:
        path = self.folder / f"{self.n_files}.parquet"
        self.n_files += 1
        frame.sink_parquet(path)
        return path

    def _reader(self) -> Any:
        """Return a DuckDB that spills into our folder and leaves most of the memory alone."""
        if self.connection is None:
            import duckdb

            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * _SHARE_OF_MEMORY
            limit = f"{max(int(memory / 2**20), 512)}MiB"
            settings: dict[str, Any] = {
                "memory_limit": limit,
                "temp_directory": str(self.folder / "spill"),
            }
            self.connection = duckdb.connect(config=settings)
        return self.connection

    def close(self) -> None:
        """Give back what is held."""
        for kept in self.persisted:
            kept.unpersist()
        if self.connection is not None:
            self.connection.close()


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return frame


def _whole_keys(path: Path, key: str) -> Iterator[Any]:
    """Give a sorted file in parts, the rows of the last key of each with the next."""
    import polars as pl

    file = pl.scan_parquet(path)
    n_rows = file.select(pl.len()).collect().item()
    rest = file.head(0).collect()
    for start in range(0, n_rows, PART):
        rest = pl.concat([rest, file.slice(start, PART).collect()])
        ends = start + PART >= n_rows
        n_whole = rest.height if ends else int((rest[key] != rest[key][-1]).sum())
        if n_whole:
            yield rest.head(n_whole)
            rest = rest.slice(n_whole)


@contextmanager
def checkpoints() -> Iterator[Checkpoints]:
    """Open a place for intermediate results, gone when the block ends."""
    with TemporaryDirectory(prefix="tacit-") as folder:
        place = Checkpoints(Path(folder))
        try:
            yield place
        finally:
            place.close()
