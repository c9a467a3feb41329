"""The threshold and the common value of a tail, found inside the engine that holds the records."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.engine_quantile import VALUE, WEIGHT, weighted_quantile_in_engine
from tacit.core.errors import DataError

_DIGITS = 12
"""Engines add in any order; more digits than this would differ from run to run."""


def is_in_engine(data: Microdata) -> bool:
    """Whether the records live outside this process, or beyond its memory."""
    return data.lazy.implementation is not nw.Implementation.POLARS


def column_in_engine(data: Microdata, column: str) -> nw.LazyFrame[Any]:
    """Return a numeric column and the weights, known values only."""
    weight = data.schema.weight
    amount = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    frame = data.lazy.select(nw.col(column).cast(nw.Float64).alias(VALUE), amount.alias(WEIGHT))
    known = frame.filter(~nw.col(VALUE).is_null())
    if weight is not None and _count(known.filter(~(nw.col(WEIGHT) > 0))):
        raise DataError(f"the weight {weight!r} must be a number above 0 on every record")
    return known


def quantile_of(known: nw.LazyFrame[Any], column: str, share: float) -> float:
    """Return the weighted quantile, or refuse a column without values."""
    if not _count(known):
        raise DataError(f"{column!r} has no values to take a quantile of")
    return weighted_quantile_in_engine(known, share)


def tail_of(known: nw.LazyFrame[Any], threshold: float, *, is_top: bool) -> nw.LazyFrame[Any]:
    """Return the values at or beyond the threshold."""
    return known.filter(nw.col(VALUE) >= threshold if is_top else nw.col(VALUE) <= threshold)


def _count(frame: nw.LazyFrame[Any]) -> int:
    return int(frame.select(nw.len()).collect("polars").item())


def summary_of(tail: nw.LazyFrame[Any]) -> tuple[int, bool]:
    """Return how many values a tail has, and whether all of them are finite."""
    found = tail.select(
        nw.len().alias("n"), nw.col(VALUE).min().alias("low"), nw.col(VALUE).max().alias("high")
    ).collect("polars")
    n = int(found["n"][0])
    return n, n == 0 or bool(np.isfinite(found["low"][0]) and np.isfinite(found["high"][0]))


def mean_of(total: float, weight: float) -> float:
    """Return a mean with as many digits as every engine, and this process, agree on."""
    return float(f"{total / weight:.{_DIGITS}g}")


def common_value(tail: nw.LazyFrame[Any], kind: Literal["mean", "median"]) -> float:
    """Return the weighted mean or median of a tail."""
    if kind == "mean":
        product = (nw.col(VALUE) * nw.col(WEIGHT)).sum().alias("total")
        sums = tail.select(product, nw.col(WEIGHT).sum()).collect("polars")
        return mean_of(sums["total"][0], sums[WEIGHT][0])
    below = weighted_quantile_in_engine(tail, 0.5)
    above = -weighted_quantile_in_engine(tail.with_columns((-nw.col(VALUE)).alias(VALUE)), 0.5)
    return (below + above) / 2
