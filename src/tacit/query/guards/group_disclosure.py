"""Groups of which all have the same value."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import MARGIN, Cells
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.tables.perturb.record_keys import MODULUS


class GroupDisclosure(
    Guard, key="zero", title="No group that is all in one category", cites=("hundepool2012",)
):
    """Withhold how a group divides where all of it, or nearly, is in one category.

    A cell that holds its whole margin tells the category of everybody in the margin, as do the
    zeros beside it. The margin itself is still released. Distinct units are counted, missing
    values are a category, weights play no part.

    A unit may be a household.

    Notes
    -----
    For every margin and every dimension it sums over: where the units outside the largest category
    number fewer than :math:`m + U`, the cells of that line are withheld. U is uniform from 0 to
    `spread` and fixed for these units, and the same as that of `threshold`: with equal parameters,
    whether a line is withheld says no more than whether its small cell is.

    Examples
    --------
    >>> GroupDisclosure().key
    'zero'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "groups that are all in one category (D4)"
    misses: ClassVar[str] = "groups compared between tables"
    costs: ClassVar[str] = "their division is withheld"
    minimum: Annotated[int, Ge(1)] = 3
    """Fewest units of a group outside its largest category."""
    spread: Annotated[int, Ge(0)] = 0
    """How far the limit varies from group to group."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with telling lines withheld."""
        cells = context.cells
        if cells is None or not cells.by:
            return context
        telling = np.zeros(len(cells), dtype=bool)
        for dimension in range(len(cells.by)):
            telling |= self._telling(cells, dimension, context)
        if not telling.any():
            return context
        note = "Where nearly all of a group is in one category, its division is withheld."
        return context.amended(note, evidence=cells.withholding(telling))

    def _telling(self, cells: Cells, dimension: int, context: Context) -> np.ndarray:
        """Return the cells of lines along one dimension that are nearly all in one category."""
        inner = np.flatnonzero(cells.codes[:, dimension] != MARGIN)
        others = np.delete(cells.codes[inner], dimension, axis=1)
        _, line = np.unique(others, axis=0, return_inverse=True)
        line = np.asarray(line).ravel()
        n_lines = int(line.max(initial=-1)) + 1
        total, largest = np.zeros(n_lines, np.int64), np.zeros(n_lines, np.int64)
        np.add.at(total, line, cells.units[inner])
        np.maximum.at(largest, line, cells.units[inner])
        limit = self._limit(cells, inner, line, n_lines, context)
        found = np.zeros(len(cells), dtype=bool)
        found[inner] = ((total - largest < limit) & (total > 0))[line]
        return found

    def _limit(
        self, cells: Cells, inner: np.ndarray, line: np.ndarray, n_lines: int, context: Context
    ) -> np.ndarray | int:
        """Return for each line how many units it needs outside its largest category."""
        if not self.spread:
            return self.minimum
        order = np.lexsort((cells.units[inner], line))
        is_last = np.append(line[order][1:] != line[order][:-1], True)
        others, keys = order[~is_last], np.zeros((n_lines, 2), dtype=np.int64)
        np.add.at(keys, line[others], cells.keys[inner][others])
        return self.minimum + context.sticky.below("threshold", keys % MODULUS, self.spread + 1)
