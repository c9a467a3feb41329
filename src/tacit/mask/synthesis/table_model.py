"""A file of categories as one table: fitted to margins, and drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.mask.synthesis.columns import Column

_MOST_CELLS = 5_000_000
_MOST_NUMBERS = 50
"""Distinct numbers that still count as categories."""
_MOST_ROUNDS = 200
_CLOSE = 1e-6


@dataclass(frozen=True)
class Categories:
    """Columns as codes from 0; where a column has gaps its last code stands for them."""

    columns: tuple[Column, ...]
    codes: np.ndarray
    """Records by columns."""
    shape: tuple[int, ...]
    numbers: tuple[np.ndarray | None, ...]
    """Distinct values of the columns that hold numbers."""

    @classmethod
    def of(cls, data: Microdata, names: Sequence[str]) -> Categories:
        """Code categories, and numbers with few values."""
        columns, codes, numbers = [], [], []
        for name in names:
            column = Column.of(data.local[name], data.schema[name])
            distinct = None
            values = column.values
            if not column.is_class:
                distinct = np.unique(values[~np.isnan(values)])
                _check_few(name, distinct)
                values = np.where(np.isnan(values), -1, np.searchsorted(distinct, values))
            n_levels = column.n_levels if distinct is None else len(distinct)
            columns.append(column)
            numbers.append(distinct)
            codes.append(np.where(values < 0, n_levels, values).astype(np.int64))
        shape = tuple(
            (c.n_levels if d is None else len(d)) + bool(_has_gaps(c))
            for c, d in zip(columns, numbers, strict=True)
        )
        return cls(tuple(columns), np.column_stack(codes), shape, tuple(numbers))

    def common_codes(self, common: int) -> np.ndarray:
        """Return the records without those that have a value of fewer than so many records."""
        kept = np.ones(len(self.codes), dtype=bool)
        for column, codes, size in zip(self.columns, self.codes.T, self.shape, strict=True):
            sizes = np.bincount(codes, minlength=size)
            is_common = sizes >= common
            is_common[-1] |= _has_gaps(column)
            if not is_common.any():
                raise DataError(
                    f"no value of {column.name!r} is shared by {common} records",
                    got=f"{int(sizes.max())} at most",
                    do="recode it into larger groups, leave it out, or lower common_category",
                )
            kept &= is_common[codes]
        return self.codes[kept]

    def decoded(self, codes: np.ndarray) -> list[object]:
        """Return drawn codes as series."""
        found = []
        for j, (column, distinct) in enumerate(zip(self.columns, self.numbers, strict=True)):
            if distinct is None:
                values = np.where(codes[:, j] >= column.n_levels, -1, codes[:, j])
            else:
                values = np.append(distinct, np.nan)[np.minimum(codes[:, j], len(distinct))]
            found.append(column.decoded(values))
        return found


def _has_gaps(column: Column) -> bool:
    missing = column.values < 0 if column.is_class else np.isnan(column.values)
    return bool(missing.any())


def _check_few(name: str, distinct: np.ndarray) -> None:
    if len(distinct) > _MOST_NUMBERS:
        raise DataError(
            f"{name!r} has too many values for a table",
            got=f"{len(distinct):,}, at most {_MOST_NUMBERS}",
            do="recode it into groups first",
        )


def counted_table(codes: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Count the records of each cell."""
    n_cells = int(np.prod([float(s) for s in shape]))
    if n_cells > _MOST_CELLS:
        raise DataError(
            "the table of all categories is too large",
            got=f"{n_cells:,} cells, at most {_MOST_CELLS:,}",
            do="leave out columns or recode them",
        )
    flat = np.ravel_multi_index(tuple(codes.T), tuple(shape))
    return np.bincount(flat, minlength=n_cells).reshape(shape).astype(np.float64)


def fitted_table(
    start: np.ndarray, margins: Sequence[tuple[tuple[int, ...], np.ndarray]]
) -> np.ndarray:
    """Fit a table to margins by iterative proportional fitting; zeros of the start stay zero.

    Examples
    --------
    >>> table = fitted_table(
    ...     np.ones((2, 2)), [((0,), np.array([3.0, 1])), ((1,), np.array([2.0, 2]))]
    ... )
    >>> table.tolist()
    [[1.5, 1.5], [0.5, 0.5]]
    """
    table = start.astype(np.float64).copy()
    for _ in range(_MOST_ROUNDS):
        worst = 0.0
        for axes, wanted in margins:
            others = tuple(a for a in range(table.ndim) if a not in axes)
            found = table.sum(axis=others, keepdims=True)
            goal = wanted.reshape(found.shape)
            factor = np.divide(goal, found, out=np.zeros_like(found), where=found > 0)
            worst = max(worst, float(np.abs(found - goal).max()))
            table *= factor
        if worst <= _CLOSE * max(float(table.sum()), 1.0):
            break
    return table


def drawn_cells(table: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw records from a table; returns their codes."""
    weights = np.maximum(table.ravel(), 0.0)
    steps = np.cumsum(weights)
    if steps[-1] <= 0:
        raise DataError("the fitted table is empty")
    at = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
    return np.column_stack(np.unravel_index(np.minimum(at, table.size - 1), table.shape))
