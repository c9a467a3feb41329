"""What the columns of a file hold: type, missing, distinct and unique values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.core.data import Microdata


@dataclass(frozen=True)
class Profile:
    """What one column holds."""

    name: str
    """Column name."""
    type: str
    """Type of the values, as stored."""
    kind: str
    """How the values compare."""
    missing: int
    """Number of missing values."""
    distinct: int
    """Number of different values, missing ones not counted."""
    unique: int
    """Number of values that occur once."""


def profiles(data: Microdata) -> list[Profile]:
    """Return a profile of each column."""
    from tacit.core.progress import track

    table = data.local
    with track("looking at the columns", len(data.columns)) as advance:
        found = []
        for name in data.columns:
            found.append(_profile(table[name], str(data.schema[name].kind)))
            advance(1)
    return found


def _profile(column: Any, kind: str) -> Profile:
    counts = column.drop_nulls().rename("value").value_counts(name="n")["n"]
    return Profile(
        name=column.name,
        type=_type_in_words(column.dtype),
        kind=kind,
        missing=column.null_count(),
        distinct=len(counts),
        unique=int((counts == 1).sum()),
    )


def _type_in_words(dtype: Any) -> str:
    import polars as pl

    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "decimal"
    words = {pl.String: "text", pl.Boolean: "true/false", pl.Date: "date", pl.Null: "empty"}
    return words.get(dtype.base_type(), str(dtype).lower())
