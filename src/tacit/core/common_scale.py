"""A column of two files on one scale: numbers as numbers, anything else as codes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from tacit.core.keys import encode_series
from tacit.core.schema import Kind

_MICROSECONDS_PER_DAY = 86_400_000_000
_LARGEST_WHOLE = 2.0**53
"""Floats above this do not tell neighbouring whole numbers apart."""


def common_codes(before: Any, after: Any) -> tuple[np.ndarray, np.ndarray]:
    """Encode two Polars series so that equal values have equal codes; -1 is missing.

    Series of different types are compared as numbers if both are, and else as text.

    Examples
    --------
    >>> import polars as pl
    >>> [codes.tolist() for codes in common_codes(pl.Series(["2", "1"]), pl.Series([2.0, None]))]
    [[1, 0], [1, -1]]
    """
    import polars as pl

    sides = [before, after]
    if before.dtype != after.dtype:
        numeric = all(series.dtype.is_numeric() for series in sides)
        sides = [series.cast(pl.Float64) if numeric else as_text(series) for series in sides]
    codes = encode_series(pl.concat([series.rename("value") for series in sides]))
    return codes[: len(before)].astype(np.int64), codes[len(before) :].astype(np.int64)


def as_text(series: Any) -> Any:
    """Return the labels of a series as text; whole floats are written like integers."""
    import polars as pl

    if series.dtype.is_float():
        known = series.fill_nan(None).drop_nulls()
        if bool((known.is_finite() & (known % 1 == 0) & (known.abs() < _LARGEST_WHOLE)).all()):
            series = series.fill_nan(None).cast(pl.Int64)
    return series.cast(pl.String)


def compare_as_numbers(before: Any, after: Any, kinds: Collection[Kind]) -> bool:
    """Whether both series are numbers, or both are dates, and their kinds say so too."""
    types = (before.dtype, after.dtype)
    return set(kinds) <= {Kind.NUMERIC, Kind.DATE} and (
        all(t.is_numeric() for t in types) or all(_is_moment(t) for t in types)
    )


def as_numbers(series: Any) -> np.ndarray:
    """Return numbers as they are and dates as days; missing and infinite values are NaN."""
    import polars as pl

    if _is_moment(series.dtype):
        series = series.cast(pl.Datetime("us")).to_physical() / _MICROSECONDS_PER_DAY
    values = series.cast(pl.Float64).to_numpy().astype(np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _is_moment(dtype: Any) -> bool:
    import polars as pl

    return dtype in (pl.Date, pl.Datetime)
