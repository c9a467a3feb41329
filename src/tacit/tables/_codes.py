"""Codes as they stand in the records, and their places in the dimensions of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, SchemaError
from tacit.tables._records import MISSING_LABEL, Prepared
from tacit.tables.dimension import Dimension, as_dimension


def as_text(series: Any) -> Any:
    """Return codes as text: whole numbers without a decimal point, days as year-month-day."""
    import polars as pl

    if series.dtype == pl.Decimal:
        series = series.cast(pl.Float64)
    if series.dtype.is_float():
        whole = series.drop_nulls()
        if (whole == whole.round(0)).all() and (whole.abs() < 2**53).all():
            series = series.cast(pl.Int64)
    if series.dtype == pl.Datetime and (series.dt.date() == series).all():
        series = series.dt.date()
    return series.cast(pl.String)


def dimensions_of(
    data: Microdata, prepared: Prepared, leaves: Any, hierarchies: Mapping[str, Any], total: str
) -> tuple[tuple[Dimension, ...], np.ndarray]:
    """Return the dimensions of a table and the codes of its finest cells, by position."""
    dimensions, columns = [], []
    for j, name in enumerate(prepared.columns.by):
        flag = prepared.flags.get(j)
        raw, text = leaves[f"c{j}"], as_text(leaves[f"c{j}"])
        observed = _observed(raw, text, leaves[flag] if flag else None)
        given = hierarchies.get(name, data.schema[name].hierarchy)
        dimension = as_dimension(name, given, observed, total)
        dimensions.append(_with_missing(dimension) if flag else dimension)
        columns.append(places_in(dimensions[-1], prepared, leaves, j))
    codes = np.array(columns, dtype=np.int64).reshape(len(columns), leaves.height).T
    return tuple(dimensions), np.ascontiguousarray(codes)


def places_in(dimension: Dimension, prepared: Prepared, leaves: Any, j: int) -> np.ndarray:
    """Return the positions of the codes of a column in a dimension that has them all."""
    flag, text = prepared.flags.get(j), as_text(leaves[f"c{j}"])
    if flag:
        text = text.zip_with(leaves[flag] == 0, _constant(MISSING_LABEL, len(text)))
    return _places(dimension, text)


def _constant(label: str, n: int) -> Any:
    import polars as pl

    return pl.Series([label] * n, dtype=pl.String)


def _observed(raw: Any, text: Any, flags: Any) -> list[str]:
    """Return the codes that occur, in the order of their values."""
    import polars as pl

    frame = pl.DataFrame({"raw": raw, "text": text})
    if flags is not None:
        frame = frame.filter(flags == 0)
    return frame.unique("text").sort("raw")["text"].to_list()


def _with_missing(dimension: Dimension) -> Dimension:
    """Add a category for records without a code, directly below the total."""
    if MISSING_LABEL in dimension.index:
        raise SchemaError(
            f"{dimension.name!r} has a code {MISSING_LABEL!r} and records without a code",
            do="rename the code, or drop the records",
        )
    groups = [
        (parent, (*children, MISSING_LABEL) if parent == dimension.total else children)
        for parent, children in dimension.groups
    ]
    if not any(parent == dimension.total for parent, _ in groups):
        groups.append((dimension.total, (MISSING_LABEL,)))
    codes = (*dimension.codes, MISSING_LABEL)
    return dimension.replace(codes=codes, groups=tuple(groups))  # type: ignore[no-any-return]


def _places(dimension: Dimension, text: Any) -> np.ndarray:
    """Return the position of each code; codes the hierarchy does not have are named."""
    leaves = set(dimension.leaves)
    codes = text.unique(maintain_order=True).to_list()
    inner = [code for code in codes if code in dimension.index and code not in leaves]
    if inner:
        raise DataError(
            f"records of {dimension.name!r} carry codes that are sums of others",
            got=_some(inner),
            do="code the records at the finest level",
        )
    unknown = [code for code in codes if code not in dimension.index]
    if unknown:
        raise DataError(
            f"codes of {dimension.name!r} are not in its hierarchy",
            got=_some(unknown),
            do="add them to the hierarchy, or correct the records",
        )
    if not codes:
        return np.empty(0, dtype=np.int64)
    places = text.replace_strict(codes, [dimension.index[c] for c in codes], return_dtype=int)
    return np.asarray(places.to_numpy(), dtype=np.int64)


def _some(codes: list[str]) -> str:
    more = f" and {len(codes) - 5} more" if len(codes) > 5 else ""
    return ", ".join(map(repr, codes[:5])) + more


def leaf_rows(leaves: Any, frame: Any, by: tuple[str, ...]) -> np.ndarray:
    """Return for each row of a frame which finest cell it belongs to."""
    if not by:
        return np.zeros(frame.height, dtype=np.int64)
    numbered = leaves.select(by).with_row_index("__row")
    found = frame.select(by).join(numbered, on=list(by), how="left", maintain_order="left")
    return np.asarray(found["__row"].to_numpy(), dtype=np.int64)
