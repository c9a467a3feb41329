"""Integer programmes of controlled rounding: units above the least one as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.tables._linear_program import LinearProgram

GAP = 1e-3
"""Share by which a rounding may be further from the original than the nearest."""
_MISS = 20.0
"""What a unit outside its bounds costs, in units of distance."""


class UnitProgram:
    """Whole numbers between bounds, each written as its least value and units above it.

    The distance is convex, so units further from the target cost more and come later by
    themselves: no columns for distances are needed.
    """

    def __init__(
        self, matrix: Any, least: np.ndarray, most: np.ndarray, cost: Any, activity: np.ndarray
    ) -> None:
        from scipy.sparse import csc_array

        width = (most - least).astype(np.int64)
        self.least = least
        self.owner = np.repeat(np.arange(len(least)), width)
        above = np.arange(len(self.owner)) - np.repeat(np.cumsum(width) - width, width)
        level = least[self.owner] + above
        matrix = csc_array(matrix)
        rows = activity - matrix @ least
        self.unmet = bool(np.any(rows))
        columns = csc_array(matrix[:, self.owner])
        self.program = LinearProgram(
            columns, np.zeros(len(level)), np.ones(len(level)),
            cost=cost(self.owner, level + 1) - cost(self.owner, level),
            row_lower=rows, row_upper=rows, integer=True,
        )  # fmt: skip

    def solve(self, seconds: float) -> tuple[np.ndarray, bool] | None:
        """Return the nearest whole numbers found in time and whether they are proven."""
        if not len(self.owner):  # nothing may change: the solver would call that no solution
            return None if self.unmet else (self.least, True)
        self.program.set_option("time_limit", max(seconds, 0.1))
        self.program.set_option("mip_rel_gap", GAP)
        status = self.program.solve()
        if not self.program.has_solution:
            return None
        taken = np.round(self.program.values)
        found = self.least + np.bincount(self.owner, taken, minlength=len(self.least))
        return found, status == "optimal"


def nearest_units(
    relations: Any,
    units: np.ndarray,
    cells: np.ndarray,
    target: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    seconds: float,
) -> np.ndarray | None:
    """Return better units of some cells, all others as they are; nothing if none are found.

    A cell outside its bounds may stay there, at a price.
    """
    now, goal, low, high = units[cells], target[cells], low[cells], high[cells]

    def cost(at: np.ndarray, level: np.ndarray) -> np.ndarray:
        outside = np.maximum(np.maximum(low[at] - level, level - high[at]), 0.0)
        return np.asarray(np.abs(level - goal[at]) + _MISS * outside)

    matrix = relations.tocsc()[:, cells].tocsr()
    matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
    sides = np.minimum(low, now), np.maximum(high, now)
    found = UnitProgram(matrix, *sides, cost, np.asarray(matrix @ now)).solve(seconds)
    if found is None or np.any(matrix @ (found[0] - now)):
        return None
    everything = np.arange(len(cells))
    gained = cost(everything, now).sum() - cost(everything, found[0]).sum()
    return found[0] if gained > 0 else None
