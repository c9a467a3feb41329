"""Values replaced by labels and conditions by numbers, inside whatever engine holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw


def as_one(condition: nw.Expr) -> nw.Expr:
    """Return 1 where a condition is true, else 0: databases do not read truth as a number."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def needs_conditions(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the engine must be given conditions in place of a table of values.

    Ibis writes such a table as a map, which PostgreSQL before 16, MySQL and SQLite do not read.
    """
    return frame.implementation is nw.Implementation.IBIS


def replaced(
    column: nw.Expr, labels: Mapping[Any, str], default: nw.Expr, *, by_conditions: bool = False
) -> nw.Expr:
    """Return the label of each value, and `default` for a value that has none.

    Examples
    --------
    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"x": ["a", "b", "c", "d", None]}))
    >>> labels = {"a": "vowel", "b": "consonant", "c": "consonant"}
    >>> for way in (False, True):
    ...     new = replaced(nw.col("x"), labels, nw.lit("?"), by_conditions=way)
    ...     frame.select(new.alias("x"))["x"].to_list()
    ['vowel', 'consonant', 'consonant', '?', '?']
    ['vowel', 'consonant', 'consonant', '?', '?']
    """
    if not labels:
        return default
    if not by_conditions:
        values = list(labels.values())
        return column.replace_strict(list(labels), values, default=default, return_dtype=nw.String)
    groups: dict[str, list[Any]] = {}
    for value, label in labels.items():
        groups.setdefault(label, []).append(value)
    return (
        nw.when(column.is_in(list(labels)))
        .then(_halved(column, [*groups.items()]))
        .otherwise(default)
    )


def _halved(column: nw.Expr, groups: Sequence[tuple[str, list[Any]]]) -> nw.Expr:
    """Return the label by halving: conditions nest as deep as a binary search goes."""
    if len(groups) == 1:
        return nw.lit(groups[0][0])
    first, second = groups[: len(groups) // 2], groups[len(groups) // 2 :]
    in_first = column.is_in([value for _, values in first for value in values])
    return nw.when(in_first).then(_halved(column, first)).otherwise(_halved(column, second))
