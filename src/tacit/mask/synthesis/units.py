"""Units of several records: members of a household, or the waves of one person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from tacit.mask.synthesis.columns import Column

_MOST_IN_TURN = 12
"""Records of a unit that are drawn one after another; later ones are drawn together."""


@dataclass(frozen=True)
class Units:
    """Records that stand unit by unit, in order."""

    sizes: np.ndarray
    """Records of each unit."""

    @classmethod
    def of(cls, unit: np.ndarray) -> Self:
        """Count the records of units that stand one after another."""
        return cls(np.diff(np.flatnonzero(np.diff(unit, prepend=-1, append=-1))))

    @cached_property
    def starts(self) -> np.ndarray:
        """First record of each unit."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit of each record."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def place(self) -> np.ndarray:
        """Place of each record in its unit, from 0."""
        return np.asarray(np.arange(int(self.sizes.sum())) - np.repeat(self.starts, self.sizes))

    @cached_property
    def by_place(self) -> list[np.ndarray]:
        """Records of the same place; those far behind are taken together."""
        place = np.minimum(self.place, _MOST_IN_TURN)
        return [np.flatnonzero(place == p) for p in range(int(place.max(initial=-1)) + 1)]

    def relatives(self, values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the previous and of the first record of the unit; else missing."""
        missing = -1 if values.dtype.kind == "i" else np.nan
        place = self.place[rows]
        previous = np.where(place == 0, missing, values[np.maximum(rows - 1, 0)])
        first = np.where(place == 0, missing, values[self.starts[self.unit[rows]]])
        return previous.astype(values.dtype), first.astype(values.dtype)

    def once(self, values: np.ndarray) -> np.ndarray:
        """Return the values without repetitions inside a unit: what one has thrice is not common.

        Examples
        --------
        >>> Units(np.array([3, 1])).once(np.array([7.0, 7.0, 5.0, 7.0])).tolist()
        [5.0, 7.0, 7.0]
        """
        order = np.lexsort((values, self.unit))
        ordered, unit = values[order], self.unit[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (ordered[1:] != ordered[:-1]) | (unit[1:] != unit[:-1])
        return np.asarray(ordered[is_new])

    def resampled(self, rng: np.random.Generator) -> np.ndarray:
        """Draw units with replacement; return their records."""
        drawn = rng.integers(0, len(self.sizes), len(self.sizes))
        sizes = self.sizes[drawn]
        offset = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.asarray(np.repeat(self.starts[drawn], sizes) + offset)


def shared_columns(columns: Mapping[str, Column], units: Units) -> list[str]:
    """Columns in which all records of every unit agree."""
    first = units.starts[units.unit]
    return [
        name
        for name, column in columns.items()
        if np.array_equal(column.values, column.values[first], equal_nan=not column.is_class)
    ]
