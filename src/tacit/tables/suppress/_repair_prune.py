"""Clean-up: publish suppressed cells again wherever every need can be proved without them."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np

from tacit.core.progress import track
from tacit.tables.suppress._repair_changes import Changes
from tacit.tables.suppress._repair_local import Surroundings
from tacit.tables.suppress._repair_pattern import Pattern
from tacit.tables.suppress._repair_search import batches, pieces

NEAR = 300
"""Cells around a cell within which its proofs are looked for again."""
CROWD = 150_000
"""A cell is not tried if more proofs rest on it than this divided by the number of open cells."""

Proof = tuple[np.ndarray, np.ndarray]


class Prune:
    """Try secondary suppressions one by one, dearest first, and publish those not needed.

    The proofs that rest on a cell are looked for again among the suppressed cells nearby, and with
    `exchange` also among published ones as long as they cost less than the cell.
    """

    def __init__(self, pattern: Pattern, near: int = NEAR) -> None:
        self.pattern, self.problem, self.near = pattern, pattern.problem, near
        self._around = Surroundings(self.problem)
        self._asked = np.zeros(self.problem.n_cells, dtype=bool)
        self._asked[self.problem.needs.cell] = True
        self._users: dict[int, set[int]] = defaultdict(set)
        for need, cells in enumerate(pattern.cells):
            for cell in cells if cells is not None else ():
                self._users[int(cell)].add(need)

    def run(self, until: float, *, exchange: bool = False) -> int:
        """Go through the secondary suppressions once; return how many were published."""
        problem, pattern = self.problem, self.pattern
        secondary = np.flatnonzero(pattern.hidden & ~problem.fixed)
        order = secondary[np.argsort(-problem.cost[secondary], kind="stable")]
        n, crowd = 0, max(CROWD // problem.n_cells, 40)
        with track("publishing what need not be suppressed", len(order)) as advance:
            for cell in order:
                if time.monotonic() > until:
                    break
                if 0 < len(self._users[int(cell)]) <= crowd:
                    n += self._publish(int(cell), exchange)
                advance(1)
        return n

    def _publish(self, cell: int, exchange: bool) -> bool:
        """Publish a cell if the proofs that rest on it can be replaced."""
        if not exchange and self._gives_away(cell):
            return False
        needs = np.array(sorted(self._users[cell]), dtype=np.int64)
        found = self._without(cell, needs, self.problem.cost[cell] if exchange else 0.0)
        if found is None:
            return False
        for need, (cells, moves) in found.items():
            old = self.pattern.cells[need]
            for c in old if old is not None else ():
                self._users[int(c)].discard(need)
            self.pattern.assign(need, cells, moves)
            for c in cells:
                self._users[int(c)].add(need)
        return True

    def _gives_away(self, cell: int) -> bool:
        """Return whether without this cell a sensitive one follows by mere subtraction."""
        from tacit.tables.suppress import _repair_kernel as kernel

        a, b = self.problem.columns, self.problem.rows
        return bool(
            kernel.gives_away(
                cell, self.pattern.hidden, self._asked, a.indptr, a.indices, b.indptr, b.indices
            )
        )

    def _without(self, cell: int, needs: np.ndarray, budget: float) -> dict[int, Proof] | None:
        """Return new proofs of some needs that leave a cell alone and add less than a budget."""
        hidden = self.pattern.hidden
        near = self._neighbourhood(cell, needs, hidden, budget)
        place = {int(c): k for k, c in enumerate(near)}
        program, graph = self._around.program(near)
        charge = self._charge(near, hidden)
        program.up[place[cell]] = program.down[place[cell]] = 0.0
        found: dict[int, Proof] = {}
        waiting = batches(self.problem, needs, ratio=4.0)[::-1]
        while waiting:
            batch = waiting.pop()
            change = self._ask(program, batch, place, charge)
            if change is None:
                if len(batch) == 1:
                    return None
                # Together they may ask for more room than there is; each alone counts.
                waiting += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                continue
            new = (change != 0) & ~hidden[near] & (charge > 0)
            budget -= float(self.problem.cost[near[new]].sum())
            if budget < 0 and new.any():
                return None
            charge[new] = 0.0
            owner = {place[int(self.problem.needs.cell[k])]: int(k) for k in batch}
            for cells, moves in pieces(graph, change):
                for c in cells:
                    if int(c) in owner:
                        found[owner[int(c)]] = (near[cells], moves)
        return found

    def _charge(self, near: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """Return prices that lead proofs over cells many others use."""
        problem, users = self.problem, self.pattern.users[near]
        used = 0.01 * problem.cost[near] / (1.0 + users)
        price = np.where(hidden[near], used, problem.cost[near])
        return np.where(problem.fixed[near], 0.0, price)

    def _ask(
        self, program: Changes, batch: np.ndarray, place: dict[int, int], charge: np.ndarray
    ) -> np.ndarray | None:
        needs = self.problem.needs
        at = np.array([place[int(c)] for c in needs.cell[batch]])
        known = needs.known[batch[0]] if len(batch) == 1 else ()
        held = np.array([place[int(k)] for k in known if int(k) in place], dtype=np.int64)
        return program.cheapest(at, (needs.amount * needs.sign)[batch], charge, held)

    def _neighbourhood(
        self, cell: int, needs: np.ndarray, hidden: np.ndarray, budget: float
    ) -> np.ndarray:
        """Return the cells within which proofs are looked for."""
        own = np.unique(np.concatenate([self.pattern.cells[k] for k in needs]))
        cheaper = hidden | (self.problem.cost < budget)
        return self._around.near(own, cheaper, max(self.near, 2 * len(own)))
