"""Proofs for large tables: each looked for nearby, and read for all the cells it moves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.progress import track
from tacit.core.side_by_side import AT_ONCE, Together, in_groups, side_by_side
from tacit.tables.suppress._repair_inside import DEAR
from tacit.tables.suppress._repair_local import Graph, Surroundings
from tacit.tables.suppress._repair_problem import EMPTY
from tacit.tables.suppress._repair_reading import Reading
from tacit.tables.suppress._repair_search import Search, pieces

NEARBY = (5_000, 20_000)
"""Cells of the surroundings in which a proof is looked for, in turn; then the whole table."""
SHORT = 60
"""Cells of a proof above which another one that is much shorter takes its place."""
WINDOW = 16 * AT_ONCE
"""Needs alike in size of which those far apart in the order are asked for together."""


@dataclass(frozen=True, eq=False)
class Found:
    """A change among some cells."""

    near: np.ndarray
    """The cells."""
    change: np.ndarray
    """How far each moves."""
    graph: Graph
    """How relations join them."""
    price: float
    """What it costs to suppress those that move."""


class Nearby:
    """One sweep over the needs of a large table, smallest first.

    A need is looked for among the cells around it. What is found is stretched and turned round as
    far as bounds allow and serves every other need it meets, so that only some need a programme.
    """

    def __init__(self, search: Search, sharing: float) -> None:
        self.search, self.problem, self.sharing = search, search.problem, sharing
        self._around = [Surroundings(search.problem) for _ in range(AT_ONCE)]
        self._every = np.ones(self.problem.n_cells, dtype=bool)
        self._free = self.problem.fixed | search.start
        self._reading = Reading(search.problem)

    def run(self, groups: Sequence[np.ndarray]) -> list[int]:
        """Prove what is not proved yet; return the needs that cannot be."""
        needs, failed = self.problem.needs, list[int]()
        with track("protecting sensitive cells", len(needs)) as advance, side_by_side() as together:
            for group in groups:
                order = group[np.argsort(needs.amount[group], kind="stable")].tolist()
                left = self._unproved(order)
                advance(len(order) - len(left))
                for k in range(0, len(left), WINDOW):
                    for some in in_groups(left[k : k + WINDOW]):
                        if time.monotonic() > self.search.until:
                            return failed
                        failed += self._prove(some, together)
                        advance(len(some))
        return failed

    def _prove(self, some: Sequence[int], together: Together[int, Found | None]) -> list[int]:
        """Find proofs side by side; return the needs that have none."""
        left = self._unproved(some)
        for need, found in zip(left, together(self._look, left), strict=True):
            if found is not None:
                self._use(need, found)
        return self._unproved(left)

    def _unproved(self, needs: Sequence[int]) -> list[int]:
        return [need for need in needs if self.search.pattern.cells[need] is None]

    def _look(self, need: int, place: int) -> Found | None:
        """Find a proof in larger and larger surroundings, a cheap one if that can be."""
        found: Found | None = None
        for limit in (*NEARBY, self.problem.n_cells):
            if found is None or (found.price > DEAR and limit < self.problem.n_cells):
                other = self._among(need, limit, self._around[place])
                found = min(filter(None, (found, other)), key=lambda one: one.price, default=None)
        return found

    def _among(self, need: int, limit: int, around: Surroundings) -> Found | None:
        """Return the cheapest proof of a need among some cells around it."""
        needs = self.problem.needs
        cell, amount = needs.cell[[need]], needs.amount[[need]] * needs.sign[need]
        near = around.movable(around.near(cell, self._every, limit))
        if not len(near) or near[0] != cell[0]:
            return None
        program, graph = around.program(near)
        program.stop_at(self.search.until)
        charge = self._charge(near)
        change = program.cheapest(np.array([0]), amount, charge, EMPTY)
        if change is None:
            return None
        return Found(near, change, graph, float(charge[change != 0].sum()))

    def _use(self, need: int, found: Found) -> None:
        """Prove a need by the part of a change that moves its cell, and others where it can."""
        near = found.near
        for part, moves in pieces(found.graph, found.change):
            if part[0] == 0 and self._is_worse(need, len(part)):
                self.search.pattern.assign(need, near[part], moves)
            for other, change in self._reading.proved(near[part], moves):
                if self._is_worse(other, len(part)):
                    self.search.pattern.assign(other, near[part], change)

    def _is_worse(self, need: int, n: int) -> bool:
        """Return whether a need has no proof yet, or one much longer than `n` cells."""
        held = self.search.pattern.cells[need]
        return held is None or (len(held) > SHORT and len(held) > 2 * n)

    def _charge(self, near: np.ndarray) -> np.ndarray:
        users = self.search.pattern.users[near]
        cost = self.problem.cost[near]
        shared = np.where(users > 0, 0.0, cost)
        price = shared if np.isinf(self.sharing) else cost / (1.0 + users) ** self.sharing
        return np.asarray(np.where(self._free[near], 0.0, price) + self.search.apart[near])
