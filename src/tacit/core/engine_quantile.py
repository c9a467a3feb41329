"""Quantiles inside an engine, exact, without collecting the column."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.frame import collect

VALUE, WEIGHT = "__tacit_value__", "__tacit_weight__"
_N_BINS = 1024
_FEW = 100_000
"""Distinct values from which the last step is done in memory."""


def weighted_quantile_in_engine(frame: nw.LazyFrame[Any], share: float) -> float:
    """Return the smallest value with at least this share of the weight at or below it.

    The frame has the columns `VALUE` and `WEIGHT`. The range is cut into bins that the engine
    counts, then the bin that holds the quantile is cut again, until few values are left.
    """
    found = _summed(frame.filter(~nw.col(VALUE).is_null()))
    low, high, left = float(found["low"][0]), float(found["high"][0]), int(found["n"][0])
    wanted, below = share * float(found["weight"][0]) * (1 - 1e-12), 0.0
    while left > _FEW and low < high and np.isfinite(high - low):
        inside = frame.filter((nw.col(VALUE) >= low) & (nw.col(VALUE) <= high))
        width = (high - low) / _N_BINS
        number = ((nw.col(VALUE) - low) / width).floor().cast(nw.Int64).alias("bin")
        bins = _summed(inside.with_columns(number), "bin").sort("bin")
        reached = below + np.cumsum(bins["weight"].to_numpy())
        at = min(int(np.searchsorted(reached, wanted)), bins.height - 1)
        below = float(reached[at - 1]) if at else below
        low, high, left = float(bins["low"][at]), float(bins["high"][at]), int(bins["n"][at])
        if bins.height == 1:  # the bins are as fine as numbers get
            break
    if low == high:
        return low
    inside = frame.filter((nw.col(VALUE) >= low) & (nw.col(VALUE) <= high))
    rest = collect(inside.group_by(VALUE).agg(nw.col(WEIGHT).sum())).sort(VALUE)
    reached = below + np.cumsum(rest[WEIGHT].to_numpy())
    at = min(int(np.searchsorted(reached, wanted)), rest.height - 1)
    return float(rest[VALUE][at])


def _summed(frame: nw.LazyFrame[Any], *by: str) -> Any:
    sums = [
        nw.col(VALUE).min().alias("low"),
        nw.col(VALUE).max().alias("high"),
        nw.col(VALUE).count().alias("n"),
        nw.col(WEIGHT).sum().alias("weight"),
    ]
    result = frame.group_by(*by).agg(*sums) if by else frame.select(*sums)
    return result.collect("polars").to_native()
