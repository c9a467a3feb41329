"""What SPSS, Stata and SAS files have in common, as pyreadstat sees them.

These files know two types, numbers and text. A column of whole numbers is read as integers, a
blank text as missing. Logical values are written as 1 and 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tacit.core.data import Microdata
from tacit.core.errors import WriteError, optional
from tacit.io.files import reading, records
from tacit.io.kinds import EXACT, whole_as_integers


def pyreadstat() -> ModuleType:
    """Return the library that knows these files, or say which extra brings it."""
    return optional("pyreadstat", extra="formats")


def read_file(
    reader: Callable[..., Any], path: Path, title: str, *, labels: bool, encoding: str | None
) -> tuple[Any, Any]:
    """Return the records as a Polars frame, and the file's metadata."""
    with reading(path, title):
        table, metadata = reader(path, output_format="polars", encoding=encoding)
        named = dict(metadata.variable_value_labels) if labels else {}
        columns = [_tidy(table[name], metadata) for name in table.columns]
        return table.select([_labelled(c, named.get(c.name, {})) for c in columns]), metadata


def _tidy(column: Any, metadata: Any) -> Any:
    import polars as pl

    if column.dtype == pl.Null:
        is_text = metadata.readstat_variable_types.get(column.name) == "string"
        return column.cast(pl.String if is_text else pl.Float64)
    if column.dtype == pl.String:
        return column.replace([""], [None])
    if not column.dtype.is_float():
        return column
    return whole_as_integers(column)


def _labelled(column: Any, labels: Mapping[Any, str]) -> Any:
    """Put the label in place of each code; a code without one stays as text."""
    import polars as pl

    if not labels:
        return column
    codes = pl.Series(list(labels)).cast(column.dtype, strict=False)
    texts = pl.Series(list(labels.values()), dtype=pl.String)
    named = column.replace_strict(codes, texts, default=None, return_dtype=pl.String)
    return named.fill_null(column.cast(pl.String)) if named.null_count() else named


def plain_records(data: Microdata) -> Any:
    """Return the records in the types these files know, or refuse what they would change."""
    import polars as pl

    table = records(data)
    for column in table.get_columns():
        if column.dtype == pl.Duration:
            raise WriteError(f"column {column.name!r} holds durations, which the format lacks")
        if column.dtype.is_integer() and (column.cast(pl.Int128).abs().max() or 0) > EXACT:
            raise WriteError(
                f"whole numbers in {column.name!r} have more digits than the format keeps",
                do="make the column text first",
            )
    return table.with_columns(pl.col(pl.Boolean).cast(pl.Int8), pl.col(pl.Null).cast(pl.String))


def overwrite(path: Path, replacements: Mapping[int, bytes]) -> None:
    """Replace bytes of a file: the clock, so that equal data give equal files."""
    with path.open("r+b") as handle:
        for position, content in replacements.items():
            handle.seek(position)
            handle.write(content)
