"""How much a table loses by coarser classifications."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from tacit.tables.collapse._coarsening import GONE, Coarsening, Design
from tacit.tables.dimension import Dimension
from tacit.tables.table import Table

Measure = Literal["information", "cells"]
_TIE = 1e-6
"""Weight of the other measure, which decides between tables that lose the same."""
_DENSE = 2**22
"""Combinations of codes up to which sums are taken in one array."""


class Loss:
    r"""The share of a table that a design loses: 0 for the table as it is, 1 for its total alone.

    A table says what its finest cells :math:`x_i` say. Where cells are merged into one of
    :math:`X_g`, their information :math:`\sum_i |x_i| \log(X_g/|x_i|)` is lost. Or the cells
    that no longer stand are counted. Either only grows when a design is made coarser. Linked tables
    say what each of them says.
    """

    def __init__(self, table: Table, ways: dict[int, Coarsening], measure: Measure) -> None:
        self.measure = measure
        spans = [(table, list(range(len(table.dimensions))))]
        if table.linked:
            names = [d.name for d in table.dimensions]
            spans = [
                (t, [names.index(d.name) for d in t.dimensions]) for t in table.linked.values()
            ]
        self._spanned = [_Spanned(one, axes, ways) for one, axes in spans]

    def __call__(self, designs: tuple[Design, ...]) -> float:
        """Return the loss of a design."""
        shares = [self.information(designs), self.cells(designs)]
        first, second = shares if self.measure == "information" else reversed(shares)
        return (first + _TIE * second) / (1.0 + _TIE)

    def cells(self, designs: tuple[Design, ...]) -> float:
        """Return the share of cells that are lost, the last one not counted."""
        lost = sum(one.cells - one.standing(designs) for one in self._spanned)
        return lost / max(sum(one.cells - one.last for one in self._spanned), 1)

    def information(self, designs: tuple[Design, ...]) -> float:
        """Return the share of information that is lost."""
        most = sum(one.information for one in self._spanned)
        return sum(one.lost(designs) for one in self._spanned) / most if most > 0 else 0.0


class _Spanned:
    """The finest cells of one table, of a single one or of several that are linked."""

    def __init__(self, table: Table, axes: Sequence[int], ways: dict[int, Coarsening]) -> None:
        finest = np.ones(table.n_cells, dtype=bool)
        for own, dimension in enumerate(table.dimensions):
            is_leaf = np.zeros(len(dimension.codes), dtype=bool)
            is_leaf[[dimension.index[code] for code in dimension.leaves]] = True
            finest &= is_leaf[table.codes[:, own]]
        codes = table.codes[finest].astype(np.int64)
        number = {axis: k for k, axis in enumerate(ways)}
        mine = [(own, axis) for own, axis in enumerate(axes) if axis in number]
        others = [own for own, axis in enumerate(axes) if axis not in number]
        _, rest = np.unique(codes[:, others], axis=0, return_inverse=True)
        self._rest = rest.ravel()
        self._numbers = [number[axis] for _, axis in mine]
        self._ways = [ways[axis] for _, axis in mine]
        self._codes = [
            _in_whole(table.dimensions[own], ways[axis].dimension)[codes[:, own]]
            for own, axis in mine
        ]
        self._sizes = [len(way.start) for way in self._ways]
        self._n = prod(self._sizes, start=int(self._rest.max(initial=0)) + 1)
        self.last = prod(len(table.dimensions[own].codes) for own in others)
        self.cells = prod(self._sizes, start=self.last)
        self._value = np.abs(table.value[finest].astype(float))
        self._own = _x_log_x(self._value)
        self.information = max(_x_log_x(self._value.sum()) - self._own, 0.0)
        self._left: dict[tuple[int, Design], int] = {}
        self._into: dict[tuple[int, Design], np.ndarray] = {}

    def standing(self, designs: tuple[Design, ...]) -> int:
        """Return how many cells stand in a design."""
        left = (self._standing(k, designs[j]) for k, j in enumerate(self._numbers))
        return prod(left, start=self.last)

    def lost(self, designs: tuple[Design, ...]) -> float:
        """Return the information that is lost."""
        if self.information <= 0:
            return 0.0
        key = self._rest
        for k, (size, codes) in enumerate(zip(self._sizes, self._codes, strict=True)):
            key = key * size + self._place(k, designs[self._numbers[k]])[codes]
        if self._n > _DENSE:
            _, key = np.unique(key, return_inverse=True)
        merged = _x_log_x(np.bincount(key.ravel(), self._value))
        return max(merged - self._own, 0.0)

    def _standing(self, k: int, design: Design) -> int:
        if (k, design) not in self._left:
            self._left[k, design] = len(set(design) - {GONE})
        return self._left[k, design]

    def _place(self, k: int, design: Design) -> np.ndarray:
        if (k, design) not in self._into:
            self._into[k, design] = self._ways[k].into(design)
        return self._into[k, design]


def _in_whole(part: Dimension, whole: Dimension) -> np.ndarray:
    """Return the place of each code of a linked table's classification in the merged one."""
    return np.array([whole.index[code] for code in part.codes], dtype=np.int64)


def _x_log_x(x: np.ndarray | float) -> float:
    x = np.asarray(x, dtype=float)
    return float(np.sum(x * np.log(np.where(x > 0, x, 1.0))))
