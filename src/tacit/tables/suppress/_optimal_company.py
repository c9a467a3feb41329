"""Cuts that leave no cell alone: the last suppressed cell of a relation follows from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.suppress._optimal_cuts import VIOLATED, Cut

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_problem import Problem


class Company:
    r"""Find cells suppressed for nothing: in some relation they have too little company.

    Suppressing a cell that is the only unknown of a relation protects nobody, so a cheapest pattern
    has none. For cell i and each of its relations r without a cell that is suppressed in any case

    .. math:: y_i \le \sum_{k \in r, k \ne i} y_k,

    the bridge-less inequalities of fischetti2001. They hold of cheapest patterns only, which is
    all that is looked for.
    """

    def __init__(self, problem: Problem) -> None:
        from scipy.sparse import csr_array

        from tacit.tables._attacker import distinct_relations

        table, given = problem.table, problem.fixed
        rows = csr_array(table.relations)
        bare = np.flatnonzero(abs(rows) @ given.astype(float) == 0)
        rows = distinct_relations(csr_array(rows[bare, :])[:, problem.candidates])
        self._starts, self._cells = rows.indptr[:-1].astype(np.int64), rows.indices
        self._sizes = np.diff(rows.indptr)

    def cuts(self, chosen: np.ndarray) -> list[Cut]:
        """Return the cuts that a choice (one number in [0, 1] per candidate) misses."""
        if not len(self._starts):
            return []
        share = chosen[self._cells]
        most = np.maximum.reduceat(share, self._starts)
        rest = np.add.reduceat(share, self._starts) - most
        return [self._cut(chosen, int(r)) for r in np.flatnonzero(most - rest > VIOLATED)]

    def _cut(self, chosen: np.ndarray, row: int) -> Cut:
        cells = self._cells[self._starts[row] : self._starts[row] + self._sizes[row]]
        weights = np.ones(len(cells))
        weights[np.argmax(chosen[cells])] = -1.0
        return Cut(cells, weights, least=0.0)
