"""How near a table with moved cells is to the original, kept up to date cell by cell."""

from __future__ import annotations

import math

import numpy as np

from tacit.tables.table import Table

_LEAST = 1e-12
"""Smallest gain that counts."""


class Nearness:
    """Distance from the original in spread, evenness and sums."""

    def __init__(self, table: Table, leaves: np.ndarray, value: np.ndarray) -> None:
        """Start from a table already changed; `value` may change with every accepted move."""
        self._original, self._value = table.value, value
        total = table.is_total
        self._size = max(float(np.abs(table.value[total]).sum()), 1e-300)
        self._before = _Spread.of(table.value[leaves])
        self._now = _Spread.of(value[leaves])
        self._missed = float(np.abs(value - table.value)[total].sum())
        self._distance = self._of(self._now, self._missed)
        self._proposed = (self._now, self._missed, self._distance)

    def gains(self, leaf: int, new: float, above: np.ndarray) -> bool:
        """Say whether a leaf with a new value brings the table nearer to the original."""
        change = new - self._value[leaf]
        off = self._value[above] - self._original[above]
        missed = self._missed + float(np.abs(off + change).sum() - np.abs(off).sum())
        spread = self._now.with_one(float(self._value[leaf]), new)
        self._proposed = (spread, missed, self._of(spread, missed))
        return self._proposed[2] < self._distance - _LEAST

    def accept(self) -> None:
        """Take the move that was last asked about."""
        self._now, self._missed, self._distance = self._proposed

    def _of(self, spread: _Spread, missed: float) -> float:
        squares = abs(spread.squares / max(self._before.squares, 1e-300) - 1.0)
        even = abs(spread.evenness / (self._before.evenness or 1.0) - 1.0)
        return squares + even + missed / self._size


class _Spread:
    """Sums of squares, sizes and sizes times their logarithms, from which the entropy follows."""

    def __init__(self, squares: float, size: float, logs: float) -> None:
        self.squares, self.size, self.logs = squares, size, logs

    @classmethod
    def of(cls, values: np.ndarray) -> _Spread:
        size = np.abs(values[values != 0])
        return cls(float((size**2).sum()), float(size.sum()), float((size * np.log(size)).sum()))

    def with_one(self, old: float, new: float) -> _Spread:
        return _Spread(
            self.squares + new**2 - old**2,
            self.size + abs(new) - abs(old),
            self.logs + _log(abs(new)) - _log(abs(old)),
        )

    @property
    def evenness(self) -> float:
        """The entropy of the shares."""
        return math.log(self.size) - self.logs / self.size if self.size > 0 else 0.0


def _log(size: float) -> float:
    return size * math.log(size) if size > 0 else 0.0
