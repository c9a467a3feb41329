"""What relations say at once of how far cells can move, before any programme is solved."""

from __future__ import annotations

import numpy as np

from tacit.tables.suppress._repair_problem import ANY_WIDTH, Problem

MOST = 2_000
"""Relations looked at for one cell that is published."""
SLACK = 1e-6
"""Share of a need that may be missing for rounding's sake."""


class Bounds:
    """Bounds on the changes of the usable cells that the relations imply, one by one.

    They are wider than what is truly possible; so a need beyond them certainly fails.

    Parameters
    ----------
    problem
        What must be achieved.
    usable
        Cells that may move; the others stay.
    seeds
        Cells from whose relations on bounds are tightened; all usable ones unless given.
    """

    def __init__(
        self, problem: Problem, usable: np.ndarray, seeds: np.ndarray | None = None
    ) -> None:
        self._problem = problem
        top = 0.5 * ANY_WIDTH * max(float(np.abs(problem.table.value).max(initial=0.0)), 1.0)
        self._rooms = [np.where(room > top, np.inf, room) for room in (problem.up, problem.down)]
        self._use(usable)
        needs = problem.needs
        self._need = {sign: np.zeros(problem.n_cells) for sign in (1.0, -1.0)}
        for sign, least in self._need.items():
            at = needs.sign == sign
            np.maximum.at(least, needs.cell[at], needs.amount[at] * (1 - SLACK))
        self._queued = np.zeros(problem.n_rows, dtype=bool)
        every = np.flatnonzero(usable) if seeds is None else seeds
        self.is_short = self._tighten(every, 50 * problem.n_rows if seeds is None else MOST)

    def _use(self, usable: np.ndarray) -> None:
        up, down = self._rooms
        self.low, self.high = np.where(usable, -down, 0.0), np.where(usable, up, 0.0)

    def rules_out(self, usable: np.ndarray, seeds: np.ndarray) -> bool:
        """Begin anew with other usable cells; return whether a need near some certainly fails."""
        self._use(usable)
        self.is_short = self._tighten(seeds, MOST)
        return self.is_short

    def _tighten(self, seeds: np.ndarray, most: int) -> bool:
        from tacit.tables.suppress import _repair_bounds_kernel as kernel

        a, b = self._problem.columns, self._problem.rows
        short, *self._undo = kernel.tighten(
            seeds, self.low, self.high, self._need[1.0], self._need[-1.0],
            a.indptr, a.indices, (b.indptr, b.indices, b.data), self._queued, most,
        )  # fmt: skip
        return bool(short)

    def publish(self, cell: int) -> bool:
        """Let a cell stay where it is; return whether a need certainly fails then.

        If so, the cell may move as before.
        """
        low, high = self.low[cell], self.high[cell]
        self.low[cell] = self.high[cell] = 0.0
        short = self._tighten(np.array([cell]), MOST)
        if short:
            changed, lows, highs = (part[::-1] for part in self._undo)
            self.low[changed], self.high[changed] = lows, highs
            self.low[cell], self.high[cell] = low, high
        return short

    def mark(self) -> None:
        """Remember the bounds as they are."""
        self._marked = self.low.copy(), self.high.copy()

    def reset(self) -> None:
        """Go back to the bounds remembered."""
        self.low, self.high = self._marked
