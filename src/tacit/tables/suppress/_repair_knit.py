"""Closely knit tables: proofs in terms of the few cells that determine all others.

Where totals are more numerous than what they sum, as in tables of many dimensions with hierarchies,
a pattern leaves few ways to move. A programme over the few cells that determine all others then
takes a few pivots where one over all cells takes thousands, and each change it finds proves many
needs at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.progress import track
from tacit.tables._linear_program import LinearProgram
from tacit.tables.suppress._repair_basis import determining_cells
from tacit.tables.suppress._repair_bounds import Bounds
from tacit.tables.suppress._repair_changes import MOST, SUPPORT, USE
from tacit.tables.suppress._repair_problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tacit.tables.suppress._repair_search import Search

LEAST_ROWS = 1_500
"""Relations from which on a table may count as closely knit; smaller ones are solved whole."""
MOST_CELLS = 20_000
"""Open cells up to which it may."""
FEW = 3
"""Open cells per free one from which on it does."""
PIVOTS = 2
"""Pivots per row and column after which a change counts as not found: it goes in circles."""
TOGETHER = 16
"""Cells published together at most; after a failure half as many, after a success twice."""


def few_cells(problem: Problem) -> csr_array | None:
    """Return the open cells as combinations of few, nothing if the table is not closely knit."""
    if problem.n_rows <= max(LEAST_ROWS, problem.n_cells) or problem.n_cells > MOST_CELLS:
        return None
    sums = determining_cells(problem.rows)
    return sums if sums is not None and sums.shape[1] * FEW <= problem.n_cells else None


class FewCells:
    """Changes of a closely knit table, by a programme over the cells that determine all others."""

    until: float = np.inf
    """When a change that is being looked for counts as not found (monotonic time)."""

    def __init__(self, sums: csr_array, up: np.ndarray, down: np.ndarray) -> None:
        from scipy.sparse import csc_array

        self._sums, self._up, self._down = sums, up, down
        self._n, self._free = sums.shape
        anything = np.full(self._free, np.inf)
        self._program = LinearProgram(csc_array(sums), -anything, anything)
        self._program.set_option("simplex_iteration_limit", PIVOTS * (self._n + self._free))
        self._rows = np.arange(self._n, dtype=np.int32)

    @cached_property
    def _charged(self) -> LinearProgram:
        """The programme with a column up and one down for each cell that costs something."""
        from scipy.sparse import csc_array, eye_array, hstack

        each = eye_array(self._n, format="csc")
        anything = np.concatenate([np.full(self._free, np.inf), np.zeros(2 * self._n)])
        return LinearProgram(
            csc_array(hstack([self._sums, -each, each], format="csc")), -anything, anything
        )

    def possible(self, cell: int, amount: float, usable: np.ndarray) -> np.ndarray | None:
        """Return a change of some cells (flags) that moves one by an amount, if there is one."""
        # Without costs every basis is a good start: only bounds have changed since the last one.
        return self._solved(self._program, cell, amount, usable)

    def cheapest(self, cell: int, amount: float, charge: np.ndarray) -> np.ndarray | None:
        """Return the cheapest change that moves a cell by an amount, if there is one.

        As `Changes` has it: a cell that can move by only a part costs its full price for that part.
        """
        paid = charge > 0
        both = np.concatenate([self._up, self._down]) / abs(amount)
        at = np.arange(self._free, self._free + 2 * self._n)
        limit = np.where(np.tile(paid, 2), np.minimum(both, MOST), 0.0)
        self._charged.set_bounds(at, 0.0, limit)
        self._charged.set_cost(at, np.tile(charge, 2) / np.clip(both, 1e-3, 1.0) + USE)
        self._charged.forget()
        return self._solved(self._charged, cell, amount, ~paid)

    def _solved(
        self, program: LinearProgram, cell: int, amount: float, usable: np.ndarray
    ) -> np.ndarray | None:
        """Solve for a movement of one cell, cells that are usable moving within their bounds."""
        unit, sign = abs(amount), np.sign(amount)
        room = self._up[cell] if sign > 0 else self._down[cell]
        if room < unit * (1 - SUPPORT):
            return None
        low = np.where(usable, -np.minimum(self._down / unit, MOST), 0.0)
        high = np.where(usable, np.minimum(self._up / unit, MOST), 0.0)
        low[cell] = high[cell] = sign
        program.solver.changeRowsBounds(len(low), self._rows, low, high)
        program.until = self.until
        if program.solve() != "optimal":
            return None
        change = self._sums @ program.values[: self._free]
        change[np.abs(change) < SUPPORT] = 0.0
        return np.asarray(change * unit)


class Knit:
    """Finds the proofs of a closely knit table, and publishes what they can do without."""

    def __init__(self, search: Search, sums: csr_array) -> None:
        self.search, self.problem = search, search.problem
        self._few = FewCells(sums, self.problem.up, self.problem.down)
        self._changes: dict[int, np.ndarray] = {}
        self._name = 0
        self._proof = np.full(len(self.problem.needs), -1, dtype=np.int64)
        """The change that proves each need, -1 if none does."""
        self._failures = np.zeros(len(self.problem.needs), dtype=np.int64)

    @property
    def is_current(self) -> bool:
        """Whether it still knows all that must be achieved."""
        return self.problem is self.search.problem

    # -- proofs ---------------------------------------------------------------------------------

    def grow(self, groups: Sequence[np.ndarray]) -> list[int]:
        """Prove every need, largest first, adding cells where it must; return those it cannot."""
        needs = self.problem.needs
        failed: list[int] = []
        hidden = self.problem.fixed | self.search.start
        self._few.until = self.search.until
        with track("protecting sensitive cells", len(needs)) as advance:
            for group in groups:
                for need in group[np.argsort(-needs.amount[group], kind="stable")].tolist():
                    if time.monotonic() > self.search.until:
                        return failed
                    advance(1)
                    if self._proof[need] >= 0:
                        continue
                    change = self._prove(need, hidden)
                    if change is None:
                        if time.monotonic() <= self.search.until:
                            failed.append(need)
                        continue
                    hidden |= change != 0
                    self._take(self._learn(change, need, self._proof < 0))
        self._write()
        return failed

    def _prove(self, need: int, hidden: np.ndarray) -> np.ndarray | None:
        """Return a change of hidden cells that proves a need, or else the cheapest of any."""
        needs = self.problem.needs
        cell, amount = int(needs.cell[need]), float(needs.amount[need] * needs.sign[need])
        change = self._few.possible(cell, amount, hidden)
        if change is not None:
            return change
        return self._few.cheapest(cell, amount, np.where(hidden, 0.0, self.problem.cost))

    def _learn(self, change: np.ndarray, need: int, wanted: np.ndarray) -> dict[int, int]:
        """Return which of some needs (flags) a change proves, stretched or turned round."""
        problem, needs = self.problem, self.problem.needs
        moved = np.flatnonzero(change)
        size, ahead = np.abs(change[moved]), change[moved] > 0
        up, down = problem.up[moved], problem.down[moved]
        reach = max(float((np.where(ahead, up, down) / size).min()), 1.0)
        back = float((np.where(ahead, down, up) / size).min())
        way = change[needs.cell] * needs.sign
        enough = np.where(way > 0, way * reach, -way * back) >= needs.amount
        enough[need] = True
        self._name += 1
        self._changes[self._name] = change
        return dict.fromkeys(np.flatnonzero(enough & wanted).tolist(), self._name)

    def _take(self, found: dict[int, int]) -> None:
        """Let changes prove needs; forget changes that prove none any more."""
        for need, name in found.items():
            self._proof[need] = name
        used = set(self._proof.tolist())
        self._changes = {name: c for name, c in self._changes.items() if name in used}

    def _write(self) -> None:
        """Give the pattern its proofs, each as large as is asked for."""
        needs = self.problem.needs
        for need, name in enumerate(self._proof.tolist()):
            if name >= 0:
                change = self._changes[name]
                cells = np.flatnonzero(change)
                size = needs.amount[need] * needs.sign[need] / change[needs.cell[need]]
                self.search.pattern.assign(need, cells, change[cells] * size)

    # -- clean-up -------------------------------------------------------------------------------

    def thin(self, until: float) -> None:
        """Publish secondary suppressions, dearest first, wherever all needs find other proofs."""
        hidden = self._hidden()
        self._few.until = until
        bounds = Bounds(self.problem, hidden)
        left = self._by_cost(hidden)
        together = 1
        with track("publishing what need not be suppressed", len(left)) as advance:
            while left and time.monotonic() < until:
                group: list[int] = []
                bounds.mark()
                while left and len(group) < together:
                    cell = left.pop()
                    advance(1)
                    if hidden[cell] and not bounds.publish(cell):
                        group.append(cell)
                if group and self._publish(group, hidden, until):
                    hidden = self._hidden()
                    bounds = Bounds(self.problem, hidden)
                    together = min(2 * together, TOGETHER)
                elif group:
                    bounds.reset()
                    left += group[::-1] if len(group) > 1 else []
                    advance(-len(group) if len(group) > 1 else 0)
                    together = max(len(group) // 2, 1)
        self._write()

    def _hidden(self) -> np.ndarray:
        """Return the cells that some proof moves, and those suppressed anyhow (flags)."""
        hidden = self.problem.fixed.copy()
        for change in self._changes.values():
            hidden |= change != 0
        return hidden

    def _by_cost(self, hidden: np.ndarray) -> list[int]:
        """Return the secondary suppressions, the dearest last."""
        cells = np.flatnonzero(hidden & ~self.problem.fixed)
        order = np.argsort(-self.problem.cost[cells], kind="stable")[::-1]
        return [int(cell) for cell in cells[order]]

    def _publish(self, group: list[int], hidden: np.ndarray, until: float) -> bool:
        """Look for proofs without some cells; take them if every need has one."""
        usable = hidden.copy()
        usable[group] = False
        stale = [name for name, change in self._changes.items() if change[group].any()]
        wanted = np.isin(self._proof, stale)
        found: dict[int, int] = {}
        needs = self.problem.needs
        todo = np.flatnonzero(wanted)
        # Who failed before fails again, most likely: a failure should show early.
        for need in todo[np.argsort(-self._failures[todo], kind="stable")].tolist():
            if need in found:
                continue
            amount = float(needs.amount[need] * needs.sign[need])
            late = time.monotonic() > until
            change = None if late else self._few.possible(int(needs.cell[need]), amount, usable)
            if change is None:
                self._failures[need] += 1
                self._take({})
                return False
            found = self._learn(change, need, wanted) | found
        self._take(found)
        return True
