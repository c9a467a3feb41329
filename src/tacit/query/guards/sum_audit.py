"""Auditing of exact answers."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from tacit.query.analysis import Analysis
from tacit.query.auditor import SumAuditor
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Memory, Stage

_MOST_ATOMS = 20_000


class SumAudit(Guard, key="sum-audit", title="Audit of exact sums", cites=("chin1982",)):
    """Refuse exact sums that, with all sums answered before, would determine an atom's value.

    Atoms of few units are the values that must not become known. Whether a sum is refused depends
    on which sets were asked about, never on values. Missing values are left out of totals; weights
    play no part in the decision.

    A unit may be a household.

    Notes
    -----
    Every released cell is an equation in the unknown sums of its atoms; the set of answered
    equations is kept in echelon form [chin1982]_ (`tacit.query.auditor.SumAuditor`). It costs time
    that grows with the square of the number of answered sums, and serves up to 20 000 atoms.

    Examples
    --------
    >>> SumAudit().key
    'sum-audit'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "tables"
    stops: ClassVar[str] = "every system of exact sums that determines a small atom"
    misses: ClassVar[str] = "values known approximately"
    costs: ClassVar[str] = "refusals; time with each answered sum; at most 20 000 atoms"
    minimum: Annotated[int, Ge(2)] = 10
    """Atoms of fewer units than this must not become known."""
    insiders: Annotated[int, Interval(ge=0, le=1)] = 0
    """0, or 1 to also protect from a user who knows the value of one atom."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse a table that would determine a protected value."""
        cells = context.cells
        if cells is None:
            raise self.refuse("only sums can be audited", "ask for tables or summaries")
        if len(context.state.cube) > _MOST_ATOMS:
            raise self.refuse("the data are too finely divided to audit")
        queries, after = _sets(cells, context), {}
        known = context.state.kept.setdefault(self.key, {})
        for statistic in ("count", *cells.sums):
            after[statistic] = self._auditor(known.get(statistic), context)
            if not after[statistic].admit(queries).allowed:
                raise self.refuse(
                    "with earlier answers, this would determine a value", "use coarser variables"
                )
        # All statistics or none, and only once the answer is given.
        return context.and_then(lambda: known.update(after))

    def _auditor(self, known: SumAuditor | None, context: Context) -> SumAuditor:
        """Return an auditor to try the sums on: a copy, or a new one."""
        cube = context.state.cube
        if known is not None:
            return known.copy()
        return SumAuditor(len(cube), protected=cube.units < self.minimum, insiders=self.insiders)


def _sets(cells: Cells, context: Context) -> np.ndarray:
    """Return for each cell that is released which atoms it adds up."""
    cube, inside = context.state.cube, context.selection.atoms
    rows, start = [], 0
    for kept in cells.levels:
        place = cube.cell_in(cells, kept)
        size = cells.level_size(kept)
        shown = np.flatnonzero(
            ~cells.hidden[start : start + size] & (cells.n[start : start + size] > 0)
        )
        rows += [(place == cell) & inside for cell in shown.tolist()]
        start += size
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(cube))
