"""Lay records out in fixed positions, as mu-ARGUS reads them."""

from __future__ import annotations

from typing import Any

from tacit.core.errors import WriteError
from tacit.core.schema import Role, Schema

_MAX_DECIMALS = 10
_MAX_SIZE = 1e15


def layout(table: Any, schema: Schema) -> tuple[str, str]:
    """Return the lines of the records and the metadata that describe their columns."""
    import polars as pl

    start, parts, described = 1, [], []
    for column in table.get_columns():
        text, tags = _as_text(column)
        width = _width(text)
        missing = "9" * width
        is_number = "<NUMERIC>" in tags
        filled = text.fill_null(missing)
        parts.append(filled.str.pad_start(width) if is_number else filled.str.pad_end(width))
        described += _lines(column.name, start, width, missing, tags + _roles(schema, column.name))
        start += width
    if not table.height or not parts:
        return "", "".join(described)
    lines = pl.select(pl.concat_str(parts)).to_series()
    return "\n".join(lines) + "\n", "".join(described)


def _lines(name: str, start: int, width: int, missing: str, tags: list[str]) -> list[str]:
    shown = f'"{name}"' if any(c in name for c in " \t<>") else name
    return [f"{shown} {start} {width} {missing}\n", *(f"  {tag}\n" for tag in tags)]


def _roles(schema: Schema, name: str) -> list[str]:
    """Return the tags for the design; which variables are keys stays inside."""
    tags = {Role.WEIGHT: "<WEIGHT>", Role.HOUSEHOLD: "<HOUSE_ID>"}
    return [tag for role, tag in tags.items() if role in schema[name].roles]


def _width(text: Any) -> int:
    """Return the width that holds every value, one more if nines of that width are a value."""
    width = int(text.str.len_chars().max() or 1)
    return width + 1 if (text == "9" * width).any() else width


def _as_text(column: Any) -> tuple[Any, list[str]]:
    """Return the values as they are written, and the tags that say what they are."""
    import polars as pl

    if column.dtype.is_integer():
        return column.cast(pl.String), ["<NUMERIC>"]
    if column.dtype.is_float() or column.dtype.is_decimal():
        return _decimals(column.cast(pl.Float64))
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int8).cast(pl.String), ["<RECODEABLE>"]
    text = column.cast(pl.String)
    if text.str.contains("[\r\n]").any():
        raise WriteError(
            f"a text in {column.name!r} has a line break, which a fixed line cannot hold"
        )
    return text.replace([""], [None]), ["<RECODEABLE>"]


def _decimals(column: Any) -> tuple[Any, list[str]]:
    """Write numbers with as few decimals as give them back."""
    import polars as pl

    if column.is_infinite().any() or (column.abs().max() or 0) >= _MAX_SIZE:
        raise WriteError(f"a number in {column.name!r} is too large for a fixed width")
    exact = (n for n in range(_MAX_DECIMALS) if (column.round(n) == column).all())
    n_decimals = next(exact, _MAX_DECIMALS)
    text = column.cast(pl.Decimal(38, n_decimals)).cast(pl.String)
    return text, ["<NUMERIC>", f"<DECIMALS> {n_decimals}"]
