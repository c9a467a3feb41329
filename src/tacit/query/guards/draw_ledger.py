"""How often noise may be drawn about the same units."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Stage


class DrawLedger(
    Guard, key="ledger", title="Limit of noise draws about the same units", cites=("asghar2019",)
):
    """Refuse a table once too many different noisy numbers would speak of the same units.

    Every table draws new noise for each of its cells. Averages over many tables approach the true
    count; the ledger bounds how many there can be. What was asked before costs nothing. The
    refusal depends on earlier requests alone, of all users. Weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    With noise of variance V and at most T draws about an atom, an average over bipartitions has a
    variance of at least V / T [asghar2019]_.

    Examples
    --------
    >>> DrawLedger().key
    'ledger'
    """

    stage: ClassVar[Stage] = "output"
    limit: Annotated[int, Ge(1)] = 200
    """Most draws about an atom, for each statistic."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse what would exceed the limit; else write it down when the answer is released."""
        cells = context.cells
        if cells is None:
            return context
        ledger, inside = context.state.ledger, context.selection.atoms
        new = np.ones(len(cells), bool) if context.fresh is None else context.fresh
        draws = _draws(cells, new, context)
        for statistic in ("count", *cells.sums):
            if np.any((ledger.of(statistic) + draws)[inside] > self.limit):
                raise self.refuse(
                    "too much has been asked about these units already",
                    "use tables that were asked before",
                )
        for statistic in ("count", *cells.sums):
            context = context.and_then(lambda s=statistic: ledger.add(s, draws))  # type: ignore[misc]
        return context


def _draws(cells: Cells, new: np.ndarray, context: Context) -> np.ndarray:
    """Return how many new cells speak of each atom."""
    cube, inside = context.state.cube, context.selection.atoms
    draws = np.zeros(len(cube), dtype=np.int64)
    start = 0
    for kept in cells.levels:
        place = cube.cell_of(cells.by, kept)
        size = cells.level_size(kept)
        draws[inside] += new[start : start + size][place[inside]]
        start += size
    return draws
