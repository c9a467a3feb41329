"""Reading a change for all it proves: stretched or turned round it serves many needs at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.tables.suppress._repair_problem import Problem


class Reading:
    """Finds the needs that a possible change proves besides the one it was looked for."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        needs = problem.needs
        plain = np.array([not len(known) for known in needs.known], dtype=bool)
        self._need_of = {
            sign: self._by_cell(np.flatnonzero(plain & (needs.sign == sign)))
            for sign in (1.0, -1.0)
        }

    def _by_cell(self, needs: np.ndarray) -> np.ndarray:
        """Return for each cell its need among some, -1 where it has none."""
        out = np.full(self._problem.n_cells, -1, dtype=np.int64)
        out[self._problem.needs.cell[needs]] = needs
        return out

    def proved(self, cells: np.ndarray, moves: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Give each need that a change of some cells proves, and the change in its size."""
        up, down = self._problem.up[cells], self._problem.down[cells]
        size = np.abs(moves)
        ahead = max(float((np.where(moves > 0, up, down) / size).min()), 1.0)
        back = float((np.where(moves > 0, down, up) / size).min())
        for turn, reach in ((1.0, ahead), (-1.0, back)):
            for sign in (1.0, -1.0):
                yield from self._enough(cells, moves * turn, reach, sign)

    def _enough(
        self, cells: np.ndarray, moves: np.ndarray, reach: float, sign: float
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Give the needs of one side that a change proves, stretched no further than its reach."""
        need = self._need_of[sign][cells]
        asked = np.flatnonzero((need >= 0) & (moves * sign > 0))
        amount = self._problem.needs.amount[need[asked]]
        for k, wanted in zip(asked, amount, strict=True):
            if moves[k] * sign * reach >= wanted:
                yield int(need[k]), moves * max(wanted / abs(moves[k]), min(1.0, reach))
