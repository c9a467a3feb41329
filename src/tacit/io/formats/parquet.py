"""Parquet, the compressed column format of data engineers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from tacit.core.data import Microdata
from tacit.core.families import Format
from tacit.io.files import reading, records, writing


class Parquet(Format, key="parquet", title="Parquet"):
    """Columns with their types, compressed.

    Types, missing values, dates and text come back as they were written.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    compression: Literal["zstd", "snappy", "gzip", "lz4", "uncompressed"] = "zstd"
    """How written columns are compressed; zstd is small, snappy is read everywhere."""

    def read(self, path: Path) -> Any:
        """Return the file as a Polars frame."""
        import polars as pl

        with reading(path, self.title):
            return pl.read_parquet(path, glob=False, hive_partitioning=False)

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file."""
        with writing(path, self.title):
            records(data).write_parquet(path, compression=self.compression)
