"""The programme behind every pattern: cheapest changes of cells that let some cells move."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.tables._linear_program import LinearProgram

SUPPORT = 1e-7
"""Share of the asked movement below which a cell counts as not moving."""
USE = 1e-3
"""Cost of moving a suppressed cell, so that proofs stay short."""
MOST = 1e6
"""Largest room, as a multiple of the asked movement: numbers the solver likes."""


class Changes:
    """Least costly changes under which given cells move by given amounts.

    One programme serves many questions: only costs and bounds change, and each starts from the
    basis of no change, which is optimal until a cell is asked to move; so a question costs pivots
    only near the cells asked for, and cells far apart can be asked together.

    Parameters
    ----------
    columns
        Relations by cells, sparse by column.
    up, down
        Room of each cell.
    """

    def __init__(self, columns: Any, up: np.ndarray, down: np.ndarray) -> None:
        from scipy.sparse import csc_array, hstack

        self.up, self.down, self.n = up, down, columns.shape[1]
        both = csc_array(hstack([columns, -columns], format="csc"))
        self._program = LinearProgram(both, np.zeros(2 * self.n), np.ones(2 * self.n))
        self._last = np.zeros(2 * self.n), np.ones(2 * self.n), np.zeros(2 * self.n)
        """Lower and upper bounds and costs of the last question: only others are sent."""
        self.n_solved = 0

    def stop_at(self, until: float) -> None:
        """Find nothing any more from then on (monotonic time)."""
        self._program.until = until

    def cheapest(
        self, cells: np.ndarray, amounts: np.ndarray, charge: np.ndarray, known: np.ndarray
    ) -> np.ndarray | None:
        """Return changes that move cells by signed amounts, or nothing if there are none.

        Parameters
        ----------
        cells, amounts
            Which cells move and how far.
        charge
            Cost of each cell that changes, 0 where it is suppressed anyhow.
        known
            Cells that stay where they are.
        """
        unit = float(np.abs(amounts).max())
        up, down = np.minimum(self.up / unit, MOST), np.minimum(self.down / unit, MOST)
        if self._beyond(cells, amounts, unit, up, down):
            return None
        self._set_bounds(cells, amounts / unit, up, down, known)
        self._set_cost(_prices(charge, up, down))
        self._program.forget()
        self.n_solved += 1
        if self._program.solve() != "optimal":
            return None
        values = self._program.values
        change = values[: self.n] - values[self.n :]
        change[np.abs(change) < SUPPORT] = 0.0
        return np.asarray(change * unit)

    def _beyond(self, cells: Any, amounts: Any, unit: float, up: Any, down: Any) -> bool:
        """Return whether a movement goes beyond the bounds of its own cell."""
        room = np.where(amounts > 0, up[cells], down[cells])
        return bool((np.abs(amounts) / unit > room * (1 + 1e-6)).any())

    def _set_bounds(self, cells: Any, amounts: Any, up: Any, down: Any, known: Any) -> None:
        lower, upper = np.zeros(2 * self.n), np.concatenate([up, down])
        upper[known], upper[known + self.n] = 0.0, 0.0
        lower[cells] = upper[cells] = np.maximum(amounts, 0.0)
        lower[cells + self.n] = upper[cells + self.n] = np.maximum(-amounts, 0.0)
        other = np.flatnonzero((lower != self._last[0]) | (upper != self._last[1]))
        self._program.set_bounds(other, lower[other], upper[other])
        self._last = lower, upper, self._last[2]

    def _set_cost(self, cost: np.ndarray) -> None:
        other = np.flatnonzero(cost != self._last[2])
        self._program.set_cost(other, cost[other])
        self._last = *self._last[:2], cost


def _prices(charge: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return prices per unit under which a full movement costs what the cell does.

    A cell that can move by only a part of what is asked costs its full price for that part.
    """
    room = np.clip(np.concatenate([up, down]), 1e-3, 1.0)
    return np.asarray(np.tile(charge, 2) / room + USE)
