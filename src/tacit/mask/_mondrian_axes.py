"""Keys as axes: values in an order along which they can be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.hierarchy import ANY
from tacit.core.keys import encode_series
from tacit.core.schema import Kind, Variable
from tacit.mask._generalise_domains import domains


@dataclass(frozen=True)
class Axis:
    """One key: the place of each record's value in the order of the values that occur."""

    variable: Variable
    codes: np.ndarray
    """Place of each record's value; -1 is missing."""
    values: Any
    """The values that occur, in order (a Polars series)."""
    positions: np.ndarray
    """Where each value lies on a scale from 0 to 1."""
    climbs: np.ndarray
    """Level at which each value meets the one before it in the hierarchy; 0 without one."""
    labels: np.ndarray | None = None
    """Label of each value, levels by values, where the key is cut along a hierarchy."""
    shares: np.ndarray | None = None
    """Share of the domain that each label covers, levels by values."""

    @property
    def is_tree(self) -> bool:
        """Whether the key is cut along a hierarchy."""
        return self.labels is not None

    @property
    def is_set(self) -> bool:
        """Whether the values have no order and no hierarchy."""
        return not self.is_tree and self.variable.kind in (Kind.NOMINAL, Kind.TEXT)


def axes(data: Microdata, names: Sequence[str]) -> list[Axis]:
    """Return the axes of some columns."""
    table = data.local
    return [_axis(data, data.schema[name], table[name]) for name in names]


def _axis(data: Microdata, variable: Variable, series: Any) -> Axis:
    if series.dtype.is_float():
        series = series.fill_nan(None)
    present = series.drop_nulls().unique().sort()
    codes = encode_series(series)
    if variable.kind in (Kind.NOMINAL, Kind.TEXT) and variable.hierarchy is not None:
        return _tree_axis(data, variable, present, codes)
    order = _order(variable, present)
    codes, present = _reordered(codes, order), present[order]
    no_climb = np.zeros(len(present), dtype=np.int32)
    return Axis(variable, codes, present, _positions(variable, present), no_climb)


def _reordered(codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the codes after the values have been put in another order."""
    if not len(order):
        return codes
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return np.where(codes < 0, -1, place[codes]).astype(np.int32)


def _order(variable: Variable, present: Any) -> np.ndarray:
    """Return the values' order: that of declared categories, else their own."""
    import polars as pl

    if variable.kind is not Kind.ORDINAL or not variable.categories:
        return np.arange(len(present))
    place = {text: i for i, text in enumerate(variable.categories)}
    ranks = [place.get(text, len(place)) for text in present.cast(pl.String).to_list()]
    return np.argsort(np.array(ranks, dtype=np.int64), kind="stable")


def _positions(variable: Variable, present: Any) -> np.ndarray:
    """Spread the values over 0 to 1: numbers and dates by size, categories evenly."""
    import polars as pl

    numbers = np.arange(len(present), dtype=np.float64)
    if variable.kind in (Kind.NUMERIC, Kind.DATE):
        numbers = present.to_physical().cast(pl.Float64).to_numpy()
        if not np.isfinite(numbers).all():
            raise DataError(f"column {variable.name!r} holds infinite values", do="replace them")
    span = np.ptp(numbers) if len(numbers) else 0.0
    return np.asarray((numbers - numbers[0]) / span if span > 0 else np.zeros(len(numbers)))


def _tree_axis(data: Microdata, variable: Variable, present: Any, codes: np.ndarray) -> Axis:
    domain = domains(data, [variable.name])[0]
    numbers = domain.labels[:, : len(present)]
    order = np.lexsort(numbers)  # the last row, the top of the tree, decides first
    numbers, shares = numbers[:, order], domain.losses[:, order]
    meets = numbers[:, 1:] == numbers[:, :-1]
    climbs = np.where(meets.any(axis=0), meets.argmax(axis=0), len(numbers))
    climbs = np.concatenate([np.zeros(min(1, len(present))), climbs]).astype(np.int32)
    names = _names(variable, present[order])
    shares = np.vstack([shares, np.ones(shares.shape[1])])
    return Axis(
        variable,
        _reordered(codes, order),
        present[order],
        np.zeros(len(present)),
        climbs,
        names,
        shares,
    )


def _names(variable: Variable, present: Any) -> np.ndarray:
    """Return the labels of the values, levels by values; above the top stands ``*``."""
    import polars as pl

    hierarchy: Any = variable.hierarchy
    table = nw.from_native(present.alias("value").to_frame())
    rows = [present.cast(pl.String).to_list()]
    for level in range(1, hierarchy.n_levels):
        label = hierarchy.generalise(nw.col("value"), level).alias("value")  # may be a constant
        rows.append(table.select(label)["value"].to_list())
    rows.append([ANY] * len(present))
    return np.array(rows, dtype=object)
