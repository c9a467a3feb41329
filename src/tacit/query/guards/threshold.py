"""Fewest units of a released cell."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Memory, Stage


class Threshold(Guard, key="threshold", title="Fewest units of a cell", cites=("hundepool2012",)):
    r"""Withhold cells of few distinct units; empty cells look the same.

    Units are counted, not records, so that copies of records do not help; the units with a value
    are counted for totals. The limit varies a little from cell to cell, always the same for the
    same units. Weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    A cell of n units is released if :math:`n \ge m + U`, U uniform from 0 to `spread` and fixed
    for its units. It stops reading single units off a table; margins may still give withheld cells
    away, which `cell-key` blurs.

    Examples
    --------
    >>> Threshold().key
    'threshold'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = (
        "small cells, copies of records (D3); with `spread`, reading off what is withheld (D5)"
    )
    misses: ClassVar[str] = "differences with margins"
    costs: ClassVar[str] = "small cells are withheld"
    minimum: Annotated[int, Ge(1)] = 3
    """Fewest distinct units."""
    spread: Annotated[int, Ge(0)] = 0
    """How far the limit varies from cell to cell."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with small cells withheld."""
        cells = context.cells
        if cells is None:
            return context
        limit = self._limit(cells, context)
        kept = cells.withholding(cells.units < limit)
        for name, sums in cells.sums.items():
            kept = kept.withholding_totals(name, sums.units < limit)
        if not kept.hidden.any():
            return context.amended(evidence=kept)
        note = f"Cells of fewer than about {self.minimum} units are withheld, empty ones too."
        return context.amended(note, evidence=kept)

    def _limit(self, cells: Cells, context: Context) -> np.ndarray:
        limit = np.full(len(cells), self.minimum)
        if self.spread:
            limit = limit + context.sticky.below("threshold", cells.keys, self.spread + 1)
        return limit
