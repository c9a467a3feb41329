"""Polish: solve a pattern, or pieces of it, anew and exactly, everything else staying as it is.

A pattern that grew cell by cell holds detours. Here some cells are set free, all others stay as
they are, and the cheapest pattern of these cells is looked for by the exact search. Proofs that
rest on none of them hold whatever is chosen, so only the others are threats, and a piece is a small
programme however large the table is.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables._levels import required_levels
from tacit.tables.suppress import _optimal_problem as optimal
from tacit.tables.suppress._optimal_dense import Dense
from tacit.tables.suppress._optimal_search import Search as ExactSearch
from tacit.tables.suppress._repair_local import Surroundings
from tacit.tables.suppress._repair_search import Search
from tacit.tables.suppress._repair_sliding import slide

WHOLE = 2_000
"""Cells worth suppressing up to which the whole pattern is solved at once."""
WHOLE_ALONE = 500
"""The same with respondents, each of whom attacks every pattern tried."""
PIECE = 250
"""Cells of a piece."""
WORK = 6e5
"""Work of programmes (see `LinearProgram`) per cell set free: seconds for a thousand cells."""
MISSES = 6
"""Pieces in a row without gain after which polishing ends."""
BLIND = 0.9
"""Relative gap from which on a search with limited work has learnt nothing of its pattern."""
WORTH = 1e-3
"""Share of the cost of a piece that must be gained."""


@dataclass(eq=False)
class Polish:
    """Makes the pattern of a search cheaper and proves it anew."""

    search: Search
    cost: np.ndarray
    """Cost of suppressing each cell of the table."""
    until: float
    """When to stop (monotonic time)."""
    singletons: bool = False
    """Whether respondents alone in a cell attack, too, at the end."""

    def __post_init__(self) -> None:
        problem = self.search.problem
        table, sensitive = problem.table, problem.sensitive
        shut = ~problem.spread(np.ones(problem.n_cells, dtype=bool))
        self._whole = optimal.Problem(
            table, required_levels(table, sensitive), sensitive.cells,
            problem.spread(problem.fixed), shut, self.cost, self.singletons,
        )  # fmt: skip
        self._tried = np.zeros(problem.n_cells, dtype=bool)

    @property
    def useful(self) -> np.ndarray:
        """Cells that a cheaper pattern may have (flags): none is dearer than the whole pattern."""
        pattern, problem = self.search.pattern, self.search.problem
        return np.asarray(problem.fixed | pattern.hidden | (problem.cost <= pattern.cost))

    @property
    def is_small(self) -> bool:
        """Whether the whole pattern can be solved at once."""
        return int(self.useful.sum()) <= (WHOLE_ALONE if self.singletons else WHOLE)

    def whole(self) -> None:
        """Solve the whole pattern anew."""
        self._solve(self.useful)

    def directly(self, start: np.ndarray | None) -> bool:
        """Solve a small table without a pattern to begin with; return whether that worked.

        It did not where the work allowed gives no bound: a pattern that grew may be far cheaper.
        A start (flags of the table's cells) may hold cells that are good ones.
        """
        if not Dense.fits(self._whole) or self.singletons:
            return False
        work = WORK * self.search.problem.n_cells
        left = max(self.until - time.monotonic(), 0.0)
        exact = ExactSearch(self._whole, left, WORTH, start=start, work=work)
        try:
            exact.run()
        except ProtectionError:
            return False
        return exact.relative_gap < BLIND and self._proved(self.search.problem.place(exact.best))

    def pieces(self) -> None:
        """Solve the surroundings of each secondary suppression anew, until time is over."""
        misses, self._around = 0, Surroundings(self.search.problem)
        with track("solving pieces of the pattern anew"):
            while (cell := self._next()) is not None and misses < MISSES:
                before = self.search.pattern.cost
                if time.monotonic() > self.until:
                    return
                self._solve(self._piece(cell))
                misses = 0 if self.search.pattern.cost < before else misses + 1

    def _next(self) -> int | None:
        """Return the dearest secondary suppression that was in no piece yet."""
        problem = self.search.problem
        left = np.flatnonzero(self.search.pattern.hidden & ~problem.fixed & ~self._tried)
        return int(left[np.argmax(problem.cost[left])]) if len(left) else None

    def _piece(self, cell: int) -> np.ndarray:
        """Return the cells around a cell that are set free (flags)."""
        problem = self.search.problem
        hidden = self.search.pattern.hidden
        cheap = problem.fixed | hidden | (problem.cost <= problem.cost[cell])
        free = np.zeros(problem.n_cells, dtype=bool)
        free[self._around.near(np.array([cell]), cheap, PIECE)] = True
        self._tried |= free & hidden
        return free

    def _solve(self, free: np.ndarray) -> None:
        """Choose anew which of some cells are suppressed."""
        pattern, problem = self.search.pattern, self.search.problem
        hidden = problem.spread(pattern.hidden)
        mine = free & pattern.hidden & ~problem.fixed
        exact = ExactSearch(
            self._part(problem.spread(free), hidden, mine), max(self.until - time.monotonic(), 0.1),
            WORTH, first=hidden, work=WORK * int(free.sum()),
        )  # fmt: skip
        before = exact.problem.price(hidden)
        try:
            exact.run()
        except ProtectionError:  # the pattern at hand protects every cell
            return
        if exact.price < before * (1 - WORTH):
            self._prove(problem.place(exact.best))

    def _part(self, free: np.ndarray, hidden: np.ndarray, mine: np.ndarray) -> optimal.Problem:
        """Return the problem of choosing among some cells, everything else staying as it is."""
        whole = self._whole
        # a respondent alone in a cell that is newly suppressed may undo any sensitive one
        primary = whole.primary if whole.singletons else self._threatened(mine)
        return replace(
            whole, primary=primary, fixed=whole.fixed | (hidden & ~free),
            blocked=whole.blocked | ~(hidden | free),
        )  # fmt: skip

    def _threatened(self, mine: np.ndarray) -> np.ndarray:
        """Return the sensitive cells with a proof that rests on some cells."""
        problem, held = self.search.problem, self.search.pattern.cells
        needs = [k for k, cells in enumerate(held) if cells is not None and mine[cells].any()]
        found = np.zeros(problem.n_cells, dtype=bool)
        found[problem.needs.cell[needs]] = True
        return problem.spread(found)

    def _prove(self, hidden: np.ndarray) -> None:
        """Prove a cheaper pattern; keep the old one if that fails."""
        search = self.search
        before = search.problem, search.pattern.copy()
        if not self._proved(hidden) or search.pattern.cost >= before[1].cost:
            search.problem, search.pattern = before
            search.pattern.problem = search.problem

    def _proved(self, hidden: np.ndarray) -> bool:
        """Look for proofs among the cells of a pattern only; return whether there are.

        Proofs against respondents are left to the attack, which every such result must stand.
        """
        search = self.search
        inside = [k for k, known in enumerate(search.problem.needs.known) if len(known)]
        self._release(inside)
        search.drop(inside)
        gone = [k for k, cells in enumerate(search.pattern.cells)
                if cells is None or not hidden[cells].all()]  # fmt: skip
        self._release(gone)
        gone = self._unproved(hidden, gone)
        if not gone and not self.singletons:
            return True
        changes = self.search.changes
        up, down = changes.up, changes.down
        changes.up, changes.down = up * hidden, down * hidden
        until, search.until = search.until, np.inf  # a cheaper pattern is worth this moment
        failed = search.sweep(np.inf, [np.array(gone, dtype=np.int64)])
        if failed and slide(search, failed, hidden):
            failed = search.sweep(np.inf, [search.pattern.unproved])
        search.until = until
        changes.up, changes.down = up, down
        if self.singletons:
            search.pattern.kept = hidden & ~search.problem.fixed
        return not failed and not len(search.pattern.unproved)

    def _unproved(self, hidden: np.ndarray, needs: list[int]) -> list[int]:
        """Read proofs off the tableau of a small table; return the needs that it does not prove."""
        dense, problem = self._whole.dense, self.search.problem
        if dense is None or self.singletons or not needs:
            return needs
        asked = problem.needs
        at, amounts = problem.cells[asked.cell[needs]], (asked.amount * asked.sign)[needs]
        place = np.full(problem.table.n_cells, -1)
        place[problem.cells] = np.arange(problem.n_cells)
        left = []
        found = dense.proofs(problem.spread(hidden), at, amounts)
        for need, proof in zip(needs, found, strict=True):
            if proof is None:
                left.append(need)
            else:
                self.search.pattern.assign(need, place[proof[0]], proof[1])
        return left

    def _release(self, needs: list[int]) -> None:
        for need in needs:
            self.search.pattern.release(need)
