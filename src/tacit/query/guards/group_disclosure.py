"""Groups of which all have the same value."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import MARGIN, Cells
from tacit.query.guard import Context, Guard, Stage


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
    number fewer than `minimum`, the cells of that line are withheld.

    Examples
    --------
    >>> GroupDisclosure().key
    'zero'
    """

    stage: ClassVar[Stage] = "output"
    minimum: Annotated[int, Ge(1)] = 3
    """Fewest units of a group outside its largest category."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with telling lines withheld."""
        cells = context.cells
        if cells is None or not cells.by:
            return context
        telling = np.zeros(len(cells), dtype=bool)
        for dimension in range(len(cells.by)):
            telling |= self._telling(cells, dimension)
        if not telling.any():
            return context
        note = "Where nearly all of a group is in one category, its division is withheld."
        return context.amended(note, evidence=cells.withholding(telling))

    def _telling(self, cells: Cells, dimension: int) -> np.ndarray:
        """Return the cells of lines along one dimension that are nearly all in one category."""
        inner = np.flatnonzero(cells.codes[:, dimension] != MARGIN)
        others = np.delete(cells.codes[inner], dimension, axis=1)
        _, line = np.unique(others, axis=0, return_inverse=True)
        line = np.asarray(line).ravel()
        n_lines = int(line.max(initial=-1)) + 1
        total, largest = np.zeros(n_lines, np.int64), np.zeros(n_lines, np.int64)
        np.add.at(total, line, cells.units[inner])
        np.maximum.at(largest, line, cells.units[inner])
        found = np.zeros(len(cells), dtype=bool)
        found[inner] = (total - largest < self.minimum)[line] & (total > 0)[line]
        return found
