"""Cuts for the master problem, read off the dual of the attacker's problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacit.tables._attacker import distinct_relations
from tacit.tables._independent import independent_relations
from tacit.tables._linear_program import LinearProgram
from tacit.tables.suppress._optimal_problem import Problem, Threat

FLAT = 1e-9
"""Reduced costs below this are zero."""
VIOLATED = 1e-4
"""Share of the right-hand side by which a cut must be missed to be worth adding."""
GLIMMER = 1e-3
"""Share given to cells not suppressed, so that among equal duals a strong one is found."""

SOLVED = 2_000.0
"""Work of a question to the tableau; a third of its entries comes on top (see `LinearProgram`)."""


@dataclass(frozen=True, eq=False)
class Cut:
    """At least this much of these cells must be suppressed: ``weights @ y >= least``."""

    columns: np.ndarray
    """Places among the candidates."""
    weights: np.ndarray
    """Share of the protection each of them can give, at most 1."""
    least: float = 1.0

    def missing(self, chosen: np.ndarray) -> float:
        """Return by how much a choice of cells misses the cut."""
        return float(self.least - self.weights @ chosen[self.columns])


class Separator:
    r"""Find cuts that a choice of cells misses, threat by threat.

    With suppression variables y the attacker's problem for cell p reads: maximise the change of p
    such that relations hold and each change lies in ``[-down y, up y]``. Its dual prices give

    .. math:: \sum_j k_j\, y_j \ge \text{level}_p, \qquad
       k_j = up_j \max(-d_j, 0) + down_j \max(d_j, 0),

    with reduced costs d: the capacity constraints of fischetti2001. Coefficients are cut at
    what remains of the right-hand side, since y is 0 or 1.
    """

    def __init__(self, problem: Problem, until: float = np.inf) -> None:
        from scipy.sparse import csc_array, hstack

        self._problem = problem
        table = problem.table
        lower, upper = table.bounds
        cells = np.union1d(problem.candidates, np.flatnonzero(problem.fixed))
        self._cells = cells
        self._is_candidate = ~problem.fixed[cells]
        self._place = np.full(table.n_cells, -1)
        self._place[cells] = np.arange(len(cells))
        self._column = np.full(len(cells), -1)
        self._column[self._is_candidate] = np.arange(len(problem.candidates))
        self._up = np.maximum(upper - table.value, 0.0)[cells]
        self._down = np.maximum(table.value - lower, 0.0)[cells]
        rows = independent_relations(distinct_relations(table.relations[:, cells]))
        self._relations = csc_array(rows)
        nothing = np.zeros(2 * len(cells))
        both = hstack([self._relations, -self._relations], format="csc")
        self._program = LinearProgram(csc_array(both), nothing, nothing)
        self._program.until = until
        self._dense = problem.dense
        self._shut = np.zeros(len(cells), dtype=bool)
        self.n_solved = 0
        self._glimmer = GLIMMER
        self._spent = 0.0
        self._reached = 0.0
        """How far the cell of the last programme moves, as a share of what was asked."""

    def close(self, is_open: np.ndarray) -> None:
        """Leave candidates out of account that no cheapest pattern suppresses."""
        self._shut[self._is_candidate] = ~is_open

    @property
    def work(self) -> float:
        """Work of all programmes solved so far."""
        return self._program.work + self._spent

    def cuts(
        self, chosen: np.ndarray, threats: Iterable[Threat], glimmer: float = GLIMMER
    ) -> list[Cut]:
        """Return the cuts that a choice (one number in [0, 1] per candidate) misses.

        A threat that the choice stands but for a `glimmer` of the cells it leaves out gives none.
        """
        self._glimmer = glimmer
        found = []
        for threat in threats:
            found += self._of_threat(chosen, threat)
        return found

    def _of_threat(self, chosen: np.ndarray, threat: Threat) -> list[Cut]:
        sides, reach = {}, {}
        found = []
        for sign, need in ((1, threat.above), (-1, threat.below)):
            if need > 0:
                asked = max(need, threat.width / 2)
                sides[sign] = self._capacities(chosen, threat, sign, asked)
                reach[sign] = self._reached * asked
                found += self._checked(chosen, sides[sign], need)
        if threat.width > threat.above + threat.below and not found:
            for sign in {1, -1} - set(sides):
                sides[sign] = self._capacities(chosen, threat, sign, threat.width / 2)
                reach[sign] = self._reached * threat.width / 2
            found += self._of_width(chosen, threat, sides, reach)
        return found

    def _of_width(
        self,
        chosen: np.ndarray,
        threat: Threat,
        sides: dict[int, np.ndarray],
        reach: dict[int, float],
    ) -> list[Cut]:
        """Return the cut that asks both sides together for the width of an interval."""
        if found := self._checked(chosen, sides[1] + sides[-1], threat.width):
            return found
        # One side goes further than its half and was not asked to: ask for all the other leaves.
        far = max(reach, key=lambda sign: reach[sign])
        missing = threat.width - reach[-far]
        if missing <= threat.width / 2:
            return []
        further = self._capacities(chosen, threat, far, missing)
        return self._checked(chosen, further + sides[-far], threat.width)

    def _checked(self, chosen: np.ndarray, capacity: np.ndarray, need: float) -> list[Cut]:
        """Return the cut of some capacities, cut at the right-hand side, if it is missed."""
        given = capacity[~self._is_candidate].sum()
        rest = need - given
        if not rest > VIOLATED * need:
            return []
        weights = np.minimum(capacity[self._is_candidate] / rest, 1.0)
        columns = np.flatnonzero(weights > FLAT)
        cut = Cut(columns, weights[columns])
        return [cut] if cut.missing(chosen) > VIOLATED else []

    def _capacities(self, chosen: np.ndarray, threat: Threat, sign: int, need: float) -> np.ndarray:
        """Solve the attacker's problem; return what each cell, suppressed, adds to the interval."""
        share = np.ones(len(self._cells))
        share[self._is_candidate] = np.maximum(chosen, self._glimmer)
        limit = np.where(self._is_candidate, need, np.inf)
        up = np.minimum(self._up, limit) * share / need
        down = np.minimum(self._down, limit) * share / need
        place = int(self._place[threat.cell])
        # The cell moves one way and no further than asked: the dual simplex starts feasible.
        ahead, back = (up, down) if sign > 0 else (down, up)
        ahead[place], back[place] = min(ahead[place], 1.0), 0.0
        known = self._place[threat.known]
        known = known[known >= 0]
        held = np.concatenate([known, np.flatnonzero(self._shut)])
        up[held] = down[held] = 0.0
        slopes = self._slopes(place, sign, up, down)
        if slopes is None:
            return np.full(len(share), np.inf)
        with np.errstate(invalid="ignore"):
            capacity = np.where(slopes < 0, self._up, self._down) * np.abs(slopes)
        capacity[slopes == 0] = 0.0
        capacity[held] = 0.0
        return np.asarray(capacity)

    def _slopes(self, place: int, sign: int, up: np.ndarray, down: np.ndarray) -> np.ndarray | None:
        """Return the reduced costs of the attacker's problem of one cell."""
        self.n_solved += 1
        if self._dense is not None:
            self._reached, slopes = self._dense.prices(place, sign, up, down)
            self._spent += SOLVED + self._dense.tableau[0].size / 3
            if self._reached >= 0:
                return -slopes
        column = place if sign > 0 else place + len(self._cells)
        program = self._program
        program.set_bounds(np.arange(2 * len(up)), 0.0, np.concatenate([up, down]))
        program.set_cost(column, -1.0)
        program.forget()
        status = program.solve()
        self._reached = -program.objective if status == "optimal" else np.inf
        program.set_cost(column, 0.0)
        if status != "optimal":
            return None
        slopes = -(self._relations.T @ program.row_duals)
        slopes[place] -= sign
        return np.where(np.abs(slopes) < FLAT, 0.0, slopes)
