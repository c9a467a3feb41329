"""Take superfluous cells out of a pattern."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._audit_proof import Flows
from tacit.tables._audit_system import system_of

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_problem import Problem, Threat


class Thinning:
    """Publish one added cell after the other as long as every threat still finds a way."""

    def __init__(
        self, problem: Problem, pattern: np.ndarray, threats: list[Threat], until: float = np.inf
    ) -> None:
        table = problem.table
        self._problem, self._pattern, self._threats = problem, pattern.copy(), threats
        self._system = system_of(table.value, table.relations, pattern, table.bounds)
        self._flows, self._until = Flows(self._system, until), until
        self._place = np.full(table.n_cells, -1)
        self._place[self._system.cells] = np.arange(len(self._system))
        self._rows = self._system.relations
        self._columns = self._rows.tocsc()
        self._left = np.diff(self._rows.indptr)
        self._is_gone = np.zeros(len(self._system), dtype=bool)
        self._needed = problem.primary[self._system.cells]
        self._fixed = problem.fixed[self._system.cells]
        self._ways = [self._way(threat) for threat in threats]

    def run(self, among: np.ndarray | None = None) -> np.ndarray:
        """Return the thinned pattern; as it is if a threat has no way to begin with."""
        if any(way is None for way in self._ways):
            return self._pattern
        extra = self._pattern & ~self._problem.fixed
        cells = np.flatnonzero(extra if among is None else extra & among)
        for cell in cells[np.argsort(-self._problem.cost[cells], kind="stable")]:
            if self._pattern[cell] and time.monotonic() < self._until:
                self._try(int(self._place[cell]))
        return self._pattern

    def _way(self, threat: Threat) -> np.ndarray | None:
        """Return which cells move when a threatened cell moves as far as it must."""
        place = int(self._place[threat.cell])
        known = self._place[threat.known]
        held = np.concatenate([known[known >= 0], np.flatnonzero(self._is_gone)])
        up = max(threat.above, min(threat.width - threat.below, self._system.upper[place]))
        down = max(threat.below, threat.width - up)
        nothing = np.zeros(len(self._system))
        ahead = self._flows.move(place, up, held) if up > 0 else nothing
        if ahead is None:
            return None
        back: np.ndarray | None = nothing
        if down > 0 and not (up > 0 and self._fits(ahead * (-down / up))):
            back = self._flows.move(place, -down, held)
        if back is None:
            return None
        return np.asarray(np.maximum(np.abs(ahead), np.abs(back)) > 1e-9 * (up + down))

    def _fits(self, change: np.ndarray) -> bool:
        return bool(np.all((change >= self._system.lower) & (change <= self._system.upper)))

    def _try(self, place: int) -> None:
        """Publish a cell, and those that it leaves alone in a relation, if everyone finds a way."""
        falling = self._falling(place)
        if falling is None:
            return
        self._is_gone[falling] = True
        renewed = self._renewed(falling)
        if renewed is None:
            self._is_gone[falling] = False
            return
        for name, way in renewed.items():
            self._ways[name] = way
        self._left -= self._counts(falling)
        self._pattern[self._system.cells[falling]] = False

    def _renewed(self, falling: np.ndarray) -> dict[int, np.ndarray] | None:
        renewed = {}
        for name, way in enumerate(self._ways):
            if way is not None and way[falling].any():
                other = self._way(self._threats[name])
                if other is None:
                    return None
                renewed[name] = other
        return renewed

    def _counts(self, places: np.ndarray) -> np.ndarray:
        rows = np.concatenate([self._rows_of(place) for place in places])
        return np.bincount(rows, minlength=len(self._left))

    def _rows_of(self, place: int) -> np.ndarray:
        pointers = self._columns.indptr
        return np.asarray(self._columns.indices[pointers[place] : pointers[place + 1]])

    def _falling(self, place: int) -> np.ndarray | None:
        """Return the cells known once a cell is; nothing if a sensitive one is among them.

        A cell that is the last one suppressed in a relation is known. One that must be suppressed
        in any case stays so.
        """
        left, falling, queue = self._left.copy(), {place}, [place]
        while queue:
            for row in self._rows_of(queue.pop()):
                left[row] -= 1
                if left[row] == 1:
                    last = self._last_in(int(row), falling)
                    if last is None:
                        continue
                    if self._needed[last]:
                        return None
                    if self._fixed[last]:
                        continue
                    falling.add(last)
                    queue.append(last)
        return np.array(sorted(falling))

    def _last_in(self, row: int, falling: set[int]) -> int | None:
        members = self._rows.indices[self._rows.indptr[row] : self._rows.indptr[row + 1]]
        left = (int(m) for m in members if not self._is_gone[m] and m not in falling)
        return next(left, None)
