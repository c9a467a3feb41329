"""Clean-up: publish suppressed cells again wherever every need can be proved without them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core.progress import track
from tacit.tables.suppress._repair_bounds import Bounds
from tacit.tables.suppress._repair_changes import Changes
from tacit.tables.suppress._repair_local import Surroundings
from tacit.tables.suppress._repair_pattern import Pattern
from tacit.tables.suppress._repair_pieces import Pieces
from tacit.tables.suppress._repair_reading import Reading
from tacit.tables.suppress._repair_search import batches, pieces

NEAR = 300
"""Cells around a cell within which its proofs are looked for again."""
CROWD = 600_000
"""A cell is not tried if more proofs rest on it than this divided by the number of open cells."""
RIPPLE = 40
"""Cells around an exchange that are tried again in the next pass."""
MANY = 1_000
"""Secondary suppressions from which on only the dearest are tried in exchange."""
SHARE = 0.97
"""Share of their cost that these have."""
TOGETHER = 16
"""Cells published together at most; after a failure half as many, after a success twice."""

Proof = tuple[np.ndarray, np.ndarray]


class Prune:
    """Try secondary suppressions, dearest first, and publish those not needed.

    The proofs that rest on a cell are looked for again among the suppressed cells nearby, and with
    `exchange` also among published ones as long as they cost less than the cell. Cells that are
    `apart` (flags) are not begun to be moved where proofs are led round others.
    """

    def __init__(self, pattern: Pattern, near: int = NEAR, apart: np.ndarray | None = None) -> None:
        self.pattern, self.problem, self.near = pattern, pattern.problem, near
        self._apart = apart
        self._around = Surroundings(self.problem)
        self._until = np.inf
        self._reading = Reading(self.problem)
        self._users: dict[int, set[int]] = defaultdict(set)
        self._is_new = np.ones(self.problem.n_cells, dtype=bool)
        """Cells around which something changed since they were last tried in exchange."""

    def _note_users(self) -> None:
        """Note which proofs rest on each cell."""
        self._users.clear()
        for need, cells in enumerate(self.pattern.cells):
            self._use(need, cells)

    def _use(self, need: int, cells: np.ndarray | None, *, ends: bool = False) -> None:
        """Note that a need's proof rests on cells, or does so no longer; sensitive ones apart."""
        if cells is None:
            return
        for cell in cells[~self.problem.fixed[cells]].tolist():
            if ends:
                self._users[cell].discard(need)
            else:
                self._users[cell].add(need)

    def run(self, until: float, *, exchange: bool = False, far: bool = True) -> None:
        """Go through the secondary suppressions once, until time is over.

        Unless `far`, those that can only be published by programmes are left.
        """
        problem, pattern = self.problem, self.pattern
        secondary = np.flatnonzero(pattern.hidden & ~problem.fixed)
        order = secondary[np.argsort(-problem.cost[secondary], kind="stable")]
        self._until = until
        if exchange:
            order = self._worth_it(order)
        else:
            order = Pieces(pattern, pattern.hidden, self._apart).publish(order, until)
            if not len(order) or not far:
                return
        self._note_users()
        with track("publishing what need not be suppressed", len(order)) as advance:
            if exchange:
                self._bounds = Bounds(problem, pattern.hidden, order[:0])
                for cell in order:
                    if self._is_new[cell] and self._is_tried(int(cell)):
                        self._exchange(int(cell))
                    advance(1)
            else:
                self._publish_some(order[::-1].tolist(), advance)

    def _worth_it(self, order: np.ndarray) -> np.ndarray:
        """Return the cells tried in exchange: all, or of many the dearest."""
        cost = np.cumsum(self.problem.cost[order])
        n = int(np.searchsorted(cost, SHARE * cost[-1])) + 1 if len(order) > MANY else len(order)
        return order[:n]

    def _is_tried(self, cell: int) -> bool:
        """Return whether proofs rest on a cell, but not too many, and there is time."""
        crowd = max(CROWD // self.problem.n_cells, 40)
        return 0 < len(self._users[cell]) <= crowd and time.monotonic() < self._until

    def _publish_some(self, left: list[int], advance: Callable[[float], None]) -> None:
        """Publish cells, the last of a list first, several at once as long as that works."""
        self._bounds = Bounds(self.problem, self.pattern.hidden)
        together = 1
        while left and time.monotonic() < self._until:
            self._bounds.mark()
            group: list[int] = []
            while left and len(group) < together:
                cell = left.pop()
                advance(1)
                if self._is_tried(cell) and not self._bounds.publish(cell):
                    group.append(cell)
            if not group or self._replace(self._without(group, 0.0)):
                together = min(2 * together, TOGETHER)
                continue
            self._bounds.reset()
            if len(group) > 1:
                left += group[::-1]
                advance(-len(group))
            together = max(len(group) // 2, 1)

    def _exchange(self, cell: int) -> None:
        """Publish a cell if cheaper ones can be suppressed in its place."""
        budget = float(self.problem.cost[cell])
        hidden = self.pattern.hidden
        usable = hidden | (self.problem.cost < budget)
        usable[cell] = self._is_new[cell] = False
        seeds = np.append(self.problem.needs.cell[self._needs([cell])], cell)
        if self._bounds.rules_out(usable, seeds) or not self._replace(
            self._without([cell], budget)
        ):
            return
        other = self.pattern.hidden
        self._is_new[self._around.near(np.flatnonzero(hidden != other), other, RIPPLE)] = True

    def _needs(self, cells: list[int]) -> np.ndarray:
        """Return the needs whose proofs rest on some cells."""
        return np.array(sorted(set().union(*(self._users[c] for c in cells))), dtype=np.int64)

    def _replace(self, found: dict[int, Proof] | None) -> bool:
        """Take new proofs that leave some cells alone, if there are."""
        for need, (moved, moves) in ({} if found is None else found).items():
            self._use(need, self.pattern.cells[need], ends=True)
            self.pattern.assign(need, moved, moves)
            self._use(need, moved)
        return found is not None

    def _without(self, gone: list[int], budget: float) -> dict[int, Proof] | None:
        """Return new proofs that leave some cells alone and add less than a budget."""
        needs, hidden = self._needs(gone), self.pattern.hidden
        near = self._neighbourhood(needs, hidden, budget)
        place = {int(c): k for k, c in enumerate(near)}
        program, graph = self._around.program(near)
        charge = self._charge(near, hidden)
        at = [place[c] for c in gone]
        program.up[at] = program.down[at] = 0.0
        found: dict[int, Proof] = {}
        waiting = batches(self.problem, needs, ratio=4.0)[::-1]
        while waiting:
            last = waiting.pop()
            batch = last[[int(k) not in found for k in last]]
            if not len(batch):
                continue
            change = self._ask(program, batch, place, charge)
            if change is None:
                if len(batch) == 1 or time.monotonic() > self._until:
                    return None
                # Together they may ask for more room than there is; each alone counts.
                waiting += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                continue
            new = (change != 0) & ~hidden[near] & (charge > 0)
            budget -= float(self.problem.cost[near[new]].sum())
            if budget < 0 and new.any():
                return None
            charge[new] = 0.0
            found |= self._read(batch, needs, near, pieces(graph, change), found)
        return found

    def _read(
        self, batch: np.ndarray, needs: np.ndarray, near: np.ndarray, parts: Any, found: Any
    ) -> dict[int, Proof]:
        """Return what the parts of a change prove: the needs asked for, and others that wait."""
        owner = {int(self.problem.needs.cell[k]): int(k) for k in batch}
        wanted, new = set(needs.tolist()), {}
        for part, moves in parts:
            cells = near[part]
            for need, other in self._reading.proved(cells, moves):
                if need in wanted and need not in found:
                    new[need] = cells, other
            new |= {owner[c]: (cells, moves) for c in cells.tolist() if c in owner}
        return new

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

    def _neighbourhood(self, needs: np.ndarray, hidden: np.ndarray, budget: float) -> np.ndarray:
        """Return the cells within which proofs are looked for."""
        own = np.unique(np.concatenate([self.pattern.cells[k] for k in needs]))
        cheaper = hidden | (self.problem.cost < budget)
        return self._around.near(own, cheaper, max(self.near, 2 * len(own)))
