"""Rounding of released numbers."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class RoundCounts(Guard, key="round-counts", title="Rounded counts", cites=("hundepool2012",)):
    """Round released counts to a multiple of a base, the nearest one.

    Half way goes up. Withheld cells stay withheld. Weighted counts are rounded before weighting.
    Missing values are a category. By itself rounding stops no averaging over many tables.

    A unit may be a household.

    Examples
    --------
    >>> RoundCounts().key
    'round-counts'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "exact small differences within one table"
    misses: ClassVar[str] = "averaging, differences of near sets"
    costs: ClassVar[str] = "counts are multiples of the base"
    base: Annotated[int, Ge(2)] = 5
    """Counts become multiples of this."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with rounded counts."""
        cells = context.cells
        if cells is None:
            return context
        changed = cells.n + (0 if cells.change is None else cells.change)
        rounded = (changed + self.base // 2) // self.base * self.base
        note = f"Counts are rounded to multiples of {self.base}."
        return context.amended(note, evidence=cells.with_(change=np.asarray(rounded - cells.n)))
