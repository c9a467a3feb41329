"""A column as a model sees it: classes as codes, numbers and dates as floats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.core.keys import encode_series
from tacit.core.schema import Kind, Variable

_MOST_DECIMALS = 6
_LARGEST_WHOLE = 2.0**53
_LONGEST = 2.0**63 - 1024
_LARGEST = 1e150
_MOSTLY_UNIQUE = 0.5
_FEW_LEVELS = 20


@dataclass(frozen=True)
class Column:
    """One variable, coded."""

    name: str
    values: np.ndarray
    """Codes of classes (int64, -1 is missing), or numbers (float64, NaN is missing)."""
    n_levels: int
    """Number of classes; 0 for numbers."""
    is_ordered: bool
    """Whether the order of the codes has a meaning."""
    levels: Any
    """Polars series of the classes, or an empty one of the type of the numbers."""
    grid: tuple[float, float, int] | None = None
    """First value, step and decimals of numbers on a grid."""
    declared: tuple[str, ...] = ()
    """All classes of an ordinal variable in their order, those that nobody has included."""

    @property
    def is_class(self) -> bool:
        """Whether the values are classes."""
        return self.n_levels > 0

    @property
    def is_internal(self) -> bool:
        """Whether the column is no user's: the size of a unit, a place in it."""
        return self.name.startswith("\0")

    @classmethod
    def of(cls, series: Any, variable: Variable) -> Column:
        """Code a Polars series as its kind says."""
        if variable.kind in (Kind.NUMERIC, Kind.DATE) and series.null_count() < len(series):
            return _numbers(series)
        codes = encode_series(series).astype(np.int64)
        if variable.kind is Kind.ORDINAL and variable.categories is not None:
            return _ordinal(series, codes, variable.categories)
        _check_not_unique(series, codes)
        is_ordered = variable.kind is Kind.ORDINAL
        levels = _distinct(series, codes)
        return cls(series.name, codes, len(levels), is_ordered, levels)

    def decoded(self, values: np.ndarray) -> Any:
        """Return drawn values as a Polars series of the original type."""
        import polars as pl

        if self.is_class:
            index = pl.Series(values).cast(pl.Int64)
            found = self.levels.gather(index.set(index < 0, None))
            return found.alias(self.name)
        physical = self.levels.to_physical().dtype
        known = np.isfinite(values)
        numbers = np.where(known, values, 0.0)
        if not physical.is_float():
            numbers = _within(np.rint(numbers), physical)
        series = pl.Series(self.name, numbers)
        series = series.cast(physical) if physical.is_decimal() else _cast(series, physical)
        return series.set(pl.Series(~known), None).cast(self.levels.dtype)

    def recoded(self, series: Any) -> np.ndarray:
        """Code released values like the original ones; a class that nobody had is missing."""
        import polars as pl

        if not self.is_class:
            return np.asarray(series.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)
        place = {level: i for i, level in enumerate(self.levels.to_list()) if level is not None}
        codes = series.replace_strict(place, default=None, return_dtype=pl.Int64)
        return np.asarray(codes.fill_null(-1).to_numpy(), dtype=np.int64)

    def place(self, value: Any) -> float | None:
        """Return the code of a class, or the number of a value; None if nobody has the class."""
        if not self.is_class:
            return _number(self, value)
        return next((i for i, level in enumerate(self.levels.to_list()) if level == value), None)

    def order_of(self, value: Any) -> float:
        """Return the code of a class; one that nobody has lies between its neighbours."""
        place = self.place(value)
        if place is not None:
            return place
        if str(value) not in self.declared:
            return self.n_levels + 1
        below = self.declared[: self.declared.index(str(value))]
        return sum(str(level) in below for level in self.levels.to_list()) - 0.5

    def may_have(self, value: Any) -> bool:
        """Whether a class occurs, or was declared."""
        return self.place(value) is not None or str(value) in self.declared

    def blank(self, n: int) -> np.ndarray:
        """Return missing values of so many records."""
        return np.full(n, -1, dtype=np.int64) if self.is_class else np.full(n, np.nan)

    def on_grid(self, values: np.ndarray) -> np.ndarray:
        """Round numbers to the decimals and steps that the column has."""
        if self.grid is None:
            return values
        start, step, decimals = self.grid
        return np.asarray(np.round(start + np.rint((values - start) / step) * step, decimals))


def common_classes(column: Column, held: np.ndarray, common: int) -> np.ndarray:
    """Say of each class whether so many have it; the last place is for missing values.

    A class of few people, like a number of few, would be theirs wherever it is drawn.
    """
    sizes = np.bincount(held[held >= 0], minlength=column.n_levels)
    is_common = sizes >= common
    if len(sizes) and sizes.any() and not is_common.any():
        if column.is_internal:
            is_common = sizes > 0
        else:
            raise DataError(
                f"no category of {column.name!r} is shared by {common} records",
                got=f"{int(sizes.max())} at most",
                do="recode it into larger groups, leave it out, or lower common_category",
            )
    return np.append(is_common, True)


def _cast(series: Any, physical: Any) -> Any:
    import polars as pl

    return series.cast(pl.Int64).cast(physical) if physical.is_integer() else series.cast(physical)


def _within(numbers: np.ndarray, physical: Any) -> np.ndarray:
    """Move whole numbers that a model drew beyond the type of the column to its border."""
    if not physical.is_integer():
        return numbers
    import polars as pl

    low, high = map(float, pl.select(low=physical.min(), high=physical.max()).row(0))
    # the largest long number is no float: one below it that is
    return np.asarray(np.clip(numbers, max(low, -_LONGEST), min(high, _LONGEST)))


def _number(column: Column, value: Any) -> float:
    """Return a number, or a date that is written as text, as the column counts it."""
    import polars as pl

    if not isinstance(value, str):
        return float(value)
    if not column.levels.dtype.is_temporal():
        raise DataError(f"a rule compares the numbers of {column.name!r} with text", got=value)
    try:
        moment = pl.Series([datetime.fromisoformat(value)]).cast(column.levels.dtype)
    except (ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"a rule compares {column.name!r} with what is no date",
            got=value,
            do="write 2001-12-31",
        ) from error
    return float(moment.to_physical()[0])


def _numbers(series: Any) -> Column:
    import polars as pl

    physical = series.to_physical()
    numbers = physical.cast(pl.Float64).to_numpy().astype(np.float64)
    if np.isinf(numbers).any():
        raise DataError(f"column {series.name!r} holds infinite values", do="replace them first")
    if np.abs(numbers[~np.isnan(numbers)]).max(initial=0.0) > _LARGEST:
        raise DataError(
            f"column {series.name!r} holds numbers whose squares cannot be counted",
            got=f"beyond {_LARGEST:g}",
            do="replace them, or write them in another unit",
        )
    return Column(series.name, numbers, 0, True, series.clear(), _grid(numbers))


def _ordinal(series: Any, codes: np.ndarray, categories: tuple[str, ...]) -> Column:
    """Code an ordinal column in its declared order."""
    import polars as pl

    levels = _distinct(series, codes)
    place = {label: i for i, label in enumerate(categories)}
    rank = np.array([place.get(str(v), len(place)) for v in levels.cast(pl.String)], dtype=np.int64)
    order = np.argsort(rank, kind="stable")
    new = np.empty(len(order) + 1, dtype=np.int64)
    new[order], new[-1] = np.arange(len(order)), -1
    n_levels = max(len(order), 1)
    return Column(series.name, new[codes], n_levels, True, levels[order], None, categories)


def _distinct(series: Any, codes: np.ndarray) -> Any:
    """Return the values in the order of their codes."""
    n_levels = int(codes.max(initial=-1)) + 1
    row = np.zeros(n_levels, dtype=np.int64)
    row[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    return series.gather(row) if n_levels else series.clear().extend_constant(None, 1)


def _check_not_unique(series: Any, codes: np.ndarray) -> None:
    """Refuse names and free texts, which a draw would copy from people."""
    known = codes[codes >= 0]
    sizes = np.bincount(known) if len(known) else np.zeros(0, dtype=int)
    if len(sizes) > _FEW_LEVELS and np.sum(sizes == 1) > _MOSTLY_UNIQUE * len(known):
        raise DataError(
            f"most values of {series.name!r} belong to one record only, and would be copied",
            got=f"{len(sizes):,} categories of {len(known):,} records",
            do="make it an identifier, drop it, or recode it first",
        )


def _grid(numbers: np.ndarray) -> tuple[float, float, int] | None:
    """Return first value, step and decimals of numbers that lie on a grid."""
    known = numbers[np.isfinite(numbers)]
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = known * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) > _LARGEST_WHOLE:
            return None
        whole = np.rint(scaled)
        if np.allclose(scaled, whole, rtol=1e-12, atol=1e-9):
            steps = np.unique(whole.astype(np.int64)) - int(whole[0])
            step = max(int(np.gcd.reduce(steps)), 1)
            return float(whole[0]) / 10.0**decimals, step / 10.0**decimals, decimals
    return None
