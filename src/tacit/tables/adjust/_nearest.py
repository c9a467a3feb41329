"""The nearest safe table: each sensitive cell moves up or down, all others make up for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core.progress import track
from tacit.tables._linear_program import LinearProgram

MARGIN = 1e-9
"""Share by which a protection level is passed, so that rounding errors do not undo it."""


@dataclass
class Adjustment:
    """A table to be changed as little as possible.

    The changed value x + d keeps the relations, ``low <= d <= high``, and each sensitive cell has
    ``d >= up`` or ``d <= -down``.
    """

    relations: Any
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray
    sensitive: np.ndarray
    """Positions of the sensitive cells."""
    down: np.ndarray
    up: np.ndarray
    integer: bool = False
    gap: float = 1e-3
    seconds: float = 300.0
    _started: float = field(default_factory=time.perf_counter)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.value)

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.5, self.seconds - (time.perf_counter() - self._started))

    def program(self, free: np.ndarray) -> LinearProgram:
        """Return the programme in d+, d- and one choice per sensitive cell.

        Choices of cells that are not `free` are fixed later by bounds and are continuous.
        """
        from scipy.sparse import block_array, coo_array, csc_array

        n, m = self.n, len(self.sensitive)
        relations = csc_array(self.relations)
        place = np.arange(m)
        # d+ <= high * y and d- <= -low * (1 - y); d+ >= up * y and d- >= down * (1 - y)
        up, down = self._levels()
        high = np.minimum(self.high[self.sensitive], self._big)
        depth = np.minimum(-self.low[self.sensitive], self._big)
        pick = coo_array((np.ones(m), (place, self.sensitive)), shape=(m, n))
        choice = [coo_array((c, (place, place)), shape=(m, m)) for c in (-high, -up, depth, down)]
        rows = [
            [relations, -relations, None],
            [pick, None, choice[0]],
            [pick, None, choice[1]],
            [None, pick, choice[2]],
            [None, pick, choice[3]],
        ]
        missing = -np.asarray(self.relations @ self.value)
        infinite = np.full(m, np.inf)
        lower = np.concatenate([missing, -infinite, np.zeros(m), -infinite, down])
        upper = np.concatenate([missing, np.zeros(m), infinite, depth, infinite])
        program = LinearProgram(
            csc_array(block_array(rows)) if m else csc_array(block_array([rows[0][:2]])),
            np.zeros(2 * n + m),
            np.concatenate([np.maximum(self.high, 0), np.maximum(-self.low, 0), np.ones(m)]),
            cost=np.concatenate([self.weight, self.weight, np.zeros(m)]),
            row_lower=lower,
            row_upper=upper,
        )
        self._mark_whole(program, free)
        # Cells that must rise (low > 0) or fall (high < 0) whatever else happens.
        rising, falling = np.flatnonzero(self.low > 0), np.flatnonzero(self.high < 0)
        program.set_bounds(rising, self.low[rising], self.high[rising])
        program.set_bounds(falling + n, -self.high[falling], -self.low[falling])
        return program

    @property
    def _big(self) -> float:
        return float(4 * max(np.abs(self.value).max(initial=1.0), *self._levels_max(), 1.0))

    def _levels_max(self) -> tuple[float, float]:
        return float(np.max(self.up, initial=0.0)), float(np.max(self.down, initial=0.0))

    def _levels(self) -> tuple[np.ndarray, np.ndarray]:
        if self.integer:
            return np.ceil(self.up - MARGIN), np.ceil(self.down - MARGIN)
        return self.up * (1 + MARGIN) + MARGIN, self.down * (1 + MARGIN) + MARGIN

    def _mark_whole(self, program: LinearProgram, free: np.ndarray) -> None:
        kinds = program._highspy.HighsVarType
        whole = 2 * self.n + np.flatnonzero(free)
        if self.integer:
            whole = np.concatenate([np.arange(2 * self.n), whole])
        if len(whole):
            code = np.full(len(whole), int(kinds.kInteger), dtype=np.uint8)
            program.solver.changeColsIntegrality(len(whole), whole.astype(np.int32), code)
            program.set_option("presolve", "choose")
            program.set_option("solver", "choose")
            program.set_option("mip_rel_gap", self.gap)

    # -- solving --------------------------------------------------------------------------------

    def solve(
        self, free: np.ndarray, rises: np.ndarray | None, seconds: float
    ) -> tuple[np.ndarray, np.ndarray, float, bool] | None:
        """Return change, senses, cost and whether it is proven, the senses not free being given."""
        program = self.program(free)
        if rises is not None:
            held = np.flatnonzero(~free)
            choice = rises[held].astype(float)
            program.set_bounds(2 * self.n + held, choice, choice)
        program.set_option("time_limit", max(0.5, seconds))
        status = program.solve()
        if not program.has_solution:
            return None
        found = program.values
        change = found[: self.n] - found[self.n : 2 * self.n]
        if self.integer:
            change = np.round(change)
        return change, found[2 * self.n :] > 0.5, program.objective, status == "optimal"

    def start(self) -> tuple[np.ndarray, np.ndarray, float, bool] | None:
        """Return a first solution: senses by what the relaxation leans to, then by either side."""
        m = len(self.sensitive)
        none = np.zeros(m, dtype=bool)
        relaxed = self.solve(none, None, self.left)
        leaning = none if relaxed is None else relaxed[1]
        for rises in (leaning, ~none, none):
            found = self.solve(none, rises, self.left)
            if found is not None:
                return found
        return None

    def improve(
        self, best: tuple[np.ndarray, np.ndarray, float, bool], block: int, rng: Any
    ) -> tuple[np.ndarray, np.ndarray, float, bool]:
        """Free the senses of one block of sensitive cells after another while it pays."""
        m = len(self.sensitive)
        order = rng.permutation(m)
        blocks = [order[i : i + block] for i in range(0, m, block)]
        with track("adjusting", len(blocks)) as advance:
            for part in blocks:
                if time.perf_counter() - self._started > self.seconds:
                    break
                free = np.zeros(m, dtype=bool)
                free[part] = True
                found = self.solve(free, best[1], min(self.left, self.seconds / 10))
                if found is not None and found[2] < best[2]:
                    best = (*found[:3], False)
                advance(1)
        return best
