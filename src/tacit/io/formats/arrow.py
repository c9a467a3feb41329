"""Arrow files: the Arrow IPC format, also called Feather."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from tacit.core.data import Microdata
from tacit.core.families import Format
from tacit.io.delimited import column_names
from tacit.io.files import reading, records, writing

_FILE_MAGIC, _FEATHER_1 = b"ARROW1", b"FEA1"


class Arrow(Format, key="arrow", title="Arrow"):
    """Columns with their types as Arrow holds them in memory (Feather, version 2).

    Types, missing values, dates and text come back as they were written. Arrow streams are read,
    too.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")

    compression: Literal["uncompressed", "lz4", "zstd"] = "uncompressed"
    """How written columns are compressed."""

    def read(self, path: Path) -> Any:
        """Return the file as a Polars frame."""
        import polars as pl
        from pyarrow import feather, ipc

        with reading(path, self.title), path.open("rb") as handle:
            magic = handle.read(len(_FILE_MAGIC))
            handle.seek(0)
            if magic == _FILE_MAGIC or magic.startswith(_FEATHER_1):
                table = feather.read_table(path, memory_map=False)
            else:
                table = ipc.open_stream(handle).read_all()
            column_names(table.column_names, path)
            return pl.from_arrow(table)

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file."""
        import polars as pl

        with writing(path, self.title):
            # The oldest layout is the one that R, Java and older readers know.
            records(data).write_ipc(
                path, compression=self.compression, compat_level=pl.CompatLevel.oldest()
            )
