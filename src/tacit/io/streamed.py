"""From a file or a database to Parquet, a few megabytes at a time: no file is too large.

What comes out is what `tacit.read` would hold in memory. The type of a column is found out from all
of its values, so delimited text is gone through twice: once to find the types, once to convert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from tacit.core.data import Microdata
from tacit.core.errors import ReadError
from tacit.core.progress import Advance, track
from tacit.core.schema import Schema
from tacit.io.beyond_memory import open_parquet
from tacit.io.delimited import BLOCK, Delimited
from tacit.io.files import check_readable, format_of, is_gzip, reading
from tacit.io.formats.csv import Csv
from tacit.io.formats.parquet import Parquet
from tacit.io.kinds import Finding, Notation

_ROWS = 100_000
"""Records that are written together, and fetched together from a database."""


def is_streamed(path: Path) -> bool:
    """Whether the file can be converted without being held in memory.

    Examples
    --------
    >>> is_streamed(Path("people.csv")), is_streamed(Path("people.sav"))
    (True, False)
    """
    kind_of_file = format_of(path, None, ReadError)
    if kind_of_file is Parquet:
        return _has_plain_types(path)
    return kind_of_file is Csv and not is_gzip(path)


def _has_plain_types(path: Path) -> bool:
    """Whether DuckDB reads the columns as the types that Polars reads them as."""
    import polars as pl

    with reading(path, Parquet.title):
        types = pl.read_parquet_schema(path).values()
    plain = (pl.Boolean, pl.String, pl.Date, pl.Categorical, pl.Enum, pl.Null, pl.Datetime("us"))
    return all(t in plain or t in (pl.Float32, pl.Float64) or t.is_integer() for t in types)


def to_parquet(source: Path, target: Path, *, memory: str = "1GB") -> Microdata:
    r"""Convert delimited text or Parquet to Parquet as tacit keeps it, and open the result.

    Parameters
    ----------
    source
        A file that `is_streamed`.
    target
        The new file. Where the source is refused, nothing is left of it.
    memory
        Memory in which the result is opened, such as ``1GB``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("zip;born\n01234;2001-05-06\n", encoding="utf-8")
    >>> to_parquet(folder / "people.csv", folder / "people.parquet").local.rows()
    [('01234', datetime.date(2001, 5, 6))]
    """
    check_readable(source)
    is_text = format_of(source, None, ReadError) is Csv
    try:
        schema = _from_text(source, target) if is_text else _from_parquet(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return open_parquet(target, memory=memory, schema=schema)


def fetched(data: Microdata, target: Path, *, memory: str = "1GB") -> Microdata:
    """Write the records of an engine to Parquet as they come, and open the result."""
    try:
        _write(target, _portions(data))
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return open_parquet(target, memory=memory, schema=data.schema)


def _portions(data: Microdata) -> Iterator[Any]:
    """Yield the records of DuckDB or of a database in portions, and any others at once."""
    import polars as pl

    native = data.lazy.select(data.columns).to_native()
    if hasattr(native, "to_pyarrow_batches"):  # Ibis: with a cursor on the server
        yield from map(pl.from_arrow, native.to_pyarrow_batches(chunk_size=_ROWS))
    elif hasattr(native, "to_arrow_reader"):  # DuckDB
        yield from map(pl.from_arrow, native.to_arrow_reader(_ROWS))
    else:
        yield data.local.select(data.columns)


def _from_text(source: Path, target: Path) -> Schema:
    """Convert delimited text; what is wrong is refused with its line."""
    import polars as pl

    reader = Csv()
    with reading(source, reader.title), track("reading", 2 * source.stat().st_size) as advance:
        names, body = reader.opened(source)
        body.check_quotes()
        converts = _types(reader, names, body, advance)
        empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        _write(target, _converted(reader, body, converts, empty, advance))
        return Microdata.of(pl.scan_parquet(target, glob=False).head(0)).schema


def _types(
    reader: Csv, names: list[str], body: Delimited, advance: Advance
) -> list[Callable[[Any], Any]]:
    """Return for each column what gives its parts the type that all of its values have."""
    notation = Notation(reader.decimal, reader.missing, reader.dates)
    findings = [Finding(notation) for _ in names]
    for part in body.batches(names, reader.missing):
        for finding, column in zip(findings, part.get_columns(), strict=True):
            finding.look(column)
        advance(BLOCK)
    return [finding.decided() for finding in findings]


def _converted(
    reader: Csv, body: Delimited, converts: list[Callable[[Any], Any]], empty: Any, advance: Advance
) -> Iterator[Any]:
    """Yield the records in their types, first none of them: a file may have none."""
    import polars as pl

    for part in chain([empty], body.batches(empty.columns, reader.missing)):
        columns = zip(converts, part.get_columns(), strict=True)
        yield pl.DataFrame([convert(column) for convert, column in columns])
        advance(BLOCK)


def _write(target: Path, frames: Iterable[Any]) -> None:
    """Write frames of the same columns one after the other."""
    from pyarrow import parquet

    writer = None
    try:
        for frame in _gathered(frames):
            table = frame.with_columns(_as_at_the_border()).to_arrow()
            if writer is None:
                writer = parquet.ParquetWriter(target, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _gathered(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield small frames together: a file of many small parts is read slowly."""
    import polars as pl

    waiting: list[Any] = []
    for frame in frames:
        waiting.append(frame)
        if sum(part.height for part in waiting) >= _ROWS:
            yield pl.concat(waiting)
            waiting.clear()
    if waiting:
        yield pl.concat(waiting)


def _as_at_the_border() -> list[Any]:
    """Return how columns change that come in: as `tacit.core.frame` has it."""
    import polars as pl
    from polars import selectors

    return [
        pl.col(pl.Null, pl.Categorical, pl.Enum).cast(pl.String),
        selectors.float().fill_nan(None),
    ]


def _from_parquet(source: Path, target: Path) -> Schema:
    """Convert Parquet, whose types are those it was written with."""
    import polars as pl

    with reading(source, Parquet.title):
        rows = pl.scan_parquet(source, glob=False, hive_partitioning=False)
        schema = Microdata.of(rows.head(0)).schema
        rows.with_columns(_as_at_the_border()).sink_parquet(target)
    return schema
