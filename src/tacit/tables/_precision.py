"""In what steps a table counts, so that changed values look like the original ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.tables.table import Table

MOST_DECIMALS = 6
_ENOUGH = 8
"""Finest cells that must all end in a zero before that is how the table counts."""
_ROUGHEST = 12
_TIE_DECIMALS = 4
"""Decimals more to which values are rounded first: engines add up in different orders."""
_DUST = 1e-9
"""Share of a step by which rounding errors may miss a limit."""


def decimals(values: np.ndarray) -> int | None:
    """Return how many decimals give the values back, None if more than six.

    Examples
    --------
    >>> decimals(np.array([0.1 + 0.2, 5.0])), decimals(np.array([1 / 3]))
    (1, None)
    """
    size = np.maximum(np.abs(values), 1.0)
    for n in range(MOST_DECIMALS + 1):
        if np.all(np.abs(np.round(values, n) - values) <= 1e-12 * size):
            return n
    return None


def settled(sums: np.ndarray) -> np.ndarray:
    """Return sums of decimal numbers without what the order of adding them up left behind.

    Engines add up in many threads and so in another order each time; without this, a table of
    euros and cents would differ in its last bits from one run to the next.

    Examples
    --------
    >>> settled(np.array([0.1 + 0.2, 5.0])).tolist()
    [0.3, 5.0]
    """
    n = decimals(sums)
    return sums if n is None else np.asarray(np.round(sums, n))


@dataclass(frozen=True)
class Steps:
    """The steps of a source: multiples of ten to the power of minus `places`."""

    places: int
    """Decimals; below zero for tens, hundreds and so on."""

    @classmethod
    def of(cls, table: Table) -> Steps | None:
        """Return the steps in which a table counts, None if its values have no end.

        A value in other steps than its neighbours would say that it was changed.
        """
        places = decimals(table.value)
        if places is None:
            return None
        there = table.value[~table.is_total & (table.value != 0)]
        if places == 0 and len(there) >= _ENOUGH:
            while -places < _ROUGHEST and not np.any(there % 10.0 ** (1 - places)):
                places -= 1
        return cls(places)

    @property
    def size(self) -> float:
        """The size of a step."""
        return float(10.0**-self.places)

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Return the nearest multiples; halves go the same way whatever dust they carry."""
        return np.asarray(np.round(np.round(values, self.places + _TIE_DECIMALS), self.places))

    def up(self, values: np.ndarray) -> np.ndarray:
        """Return the next multiples above, or the values where they are such but for dust."""
        units = self.units(values)
        return self.values(np.ceil(units - _dust(units)))

    def down(self, values: np.ndarray) -> np.ndarray:
        """Return the next multiples below, or the values where they are such but for dust."""
        units = self.units(values)
        return self.values(np.floor(units + _dust(units)))

    def away(self, start: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the next multiples that are no nearer to a start, itself a multiple."""
        return np.where(values >= start, self.up(values), self.down(values))

    def beside(self, original: np.ndarray, changed: np.ndarray) -> np.ndarray:
        """Return changed values as multiples; what did not change stays to the last bit."""
        rounded = self.rounded(changed)
        return np.where(np.abs(rounded - original) < self.size / 2, original, rounded)

    def units(self, values: np.ndarray) -> np.ndarray:
        """Return values as numbers of steps."""
        values = np.asarray(values, dtype=float)
        return values * 10.0**self.places if self.places >= 0 else values / 10.0**-self.places

    def values(self, units: np.ndarray) -> np.ndarray:
        """Return numbers of steps as values: the floating point numbers of their decimal text."""
        back = units / 10.0**self.places if self.places >= 0 else units * 10.0**-self.places
        return np.asarray(back)


def _dust(units: np.ndarray) -> np.ndarray:
    finite = np.where(np.isfinite(units), np.abs(units), 1.0)
    return np.asarray(_DUST + 8 * np.spacing(finite))
