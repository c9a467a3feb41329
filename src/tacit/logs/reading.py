"""Reading query logs: AOL's format and any delimited text, plain or compressed, streaming."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tacit.core.errors import ParameterError, ReadError
from tacit.core.progress import track
from tacit.logs.query_log import QueryLog, encoded

AOL = {
    "user": "AnonID",
    "query": "Query",
    "time": "QueryTime",
    "rank": "ItemRank",
    "url": "ClickURL",
}
"""Columns of the files that AOL published in 2006."""


def read(
    paths: str | Path | Iterable[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    separator: str = "\t",
    time_format: str = "%Y-%m-%d %H:%M:%S",
) -> QueryLog:
    r"""Read a query log from one file or several, plain or compressed with gzip or zstd.

    By default the files are as AOL published them: tab-separated, with the columns ``AnonID``,
    ``Query``, ``QueryTime``, ``ItemRank`` and ``ClickURL``. Files are streamed; only codes and the
    distinct queries stay in memory. Quotes have no meaning, bytes that are not UTF-8 become �.
    Lines without a user or a query (AOL writes ``-``) are left out and counted.

    Parameters
    ----------
    paths
        A file, a pattern such as ``user-ct-*.txt.gz``, or several of them.
    columns
        Which column holds what, for other files: ``{"user": "id", "query": "text"}``.
    separator
        Character between the fields.
    time_format
        How times are written; those written otherwise become missing.

    Examples
    --------
    >>> _ = Path("log.txt").write_text("AnonID\tQuery\n7\tflu\n9\trisotto\n")
    >>> read("log.txt")
    QueryLog(2 lines, 2 users, 2 distinct queries)
    >>> Path("log.txt").unlink()
    """
    import polars as pl

    files = _files(paths)
    _check_separator(separator)
    try:
        with track("reading the log", None):
            lines = pl.scan_csv(
                files,
                separator=separator,
                quote_char=None,
                infer_schema=False,
                truncate_ragged_lines=True,
                encoding="utf8-lossy",
            )
            names = dict(columns or _known(lines.collect_schema().names()))
            typed = _typed(lines, names, time_format)
            return encoded(typed, names, ", ".join(map(str, files)))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ReadError(f"the log could not be read: {error}", got=str(files[0])) from error


def _files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: list[Path] = []
    for path in map(Path, given):
        matches = [path] if path.exists() else sorted(path.parent.glob(path.name))
        if not matches:
            raise ReadError("there is no such file", got=str(path))
        found += matches
    for path in found:
        _check_encoding(path)
    if not found:
        raise ReadError("no file was named", do="give a path")
    return found


def _check_encoding(path: Path) -> None:
    """Refuse UTF-16, which spreadsheets write as "Unicode text"; it would be read as nonsense."""
    if not path.is_file():
        raise ReadError("this is no file", got=str(path))
    with path.open("rb") as handle:
        start = handle.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        raise ReadError("the file is UTF-16 text", got=str(path), do="save it as UTF-8")


def _check_separator(separator: str) -> None:
    if len(separator.encode()) != 1:
        raise ParameterError(
            "fields are separated by one ASCII character",
            got=repr(separator),
            do='try "," or "\\t"',
        )


def _known(names: list[str]) -> dict[str, str]:
    """Recognise AOL's column names, whatever their case."""
    lowered = {name.strip().lower(): name for name in names}
    return {part: lowered[n.lower()] for part, n in AOL.items() if n.lower() in lowered}


def _typed(lines: Any, names: Mapping[str, str], time_format: str) -> Any:
    import polars as pl

    columns = {}
    if "time" in names:
        columns[names["time"]] = pl.col(names["time"]).str.to_datetime(time_format, strict=False)
    if "rank" in names:
        columns[names["rank"]] = pl.col(names["rank"]).cast(pl.Int32, strict=False)
    return lines.with_columns(**columns)
