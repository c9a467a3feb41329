"""Dominance on released totals."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class DominanceRule(
    Guard, key="dominance", title="Dominance of the largest units", cites=("hundepool2012",)
):
    """Withhold totals to which one to three units contribute almost all.

    Contributions are those of distinct units, unweighted and without regard to sign. Missing
    values are left out.

    A unit may be a household.

    Notes
    -----
    A total is withheld if its n largest units contribute more than k percent of the absolute sum.

    Examples
    --------
    >>> DominanceRule().key
    'dominance'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "totals made up by one or two units (D2)"
    misses: ClassVar[str] = "inference from what is withheld"
    costs: ClassVar[str] = "such totals are withheld"
    n: Annotated[int, Ge(1), Le(3)] = 2
    """How many of the largest units."""
    k: Annotated[float, Gt(0), Le(100)] = 85.0
    """Percentage of the total that they may contribute."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with dominated totals withheld."""
        cells = context.cells
        if cells is None or not cells.sums:
            return context
        for name, sums in cells.sums.items():
            total = np.maximum(np.abs(sums.plain_total), sums.top.sum(axis=1))
            dominated = sums.top[:, : self.n].sum(axis=1) > self.k / 100 * total
            cells = cells.withholding_totals(name, dominated)
        return context.amended("Totals that few units make up are withheld.", evidence=cells)
