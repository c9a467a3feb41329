"""The nearest safe table: each sensitive cell moves up or down, all others make up for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
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
    ``d >= up`` or ``d <= -down``; one of the two may be negative.
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
    late: bool = False
    """Whether some programme ran out of time."""
    _started: float = field(default_factory=time.perf_counter)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.value)

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.5, self.seconds - (time.perf_counter() - self._started))

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return time.perf_counter() - self._started > self.seconds

    def program(self, free: np.ndarray) -> LinearProgram:
        """Return the programme in d+, d- and one choice per sensitive cell.

        Choices of cells that are not `free` are fixed later by bounds and are continuous.
        """
        from scipy.sparse import block_array, csc_array

        n, m = self.n, len(self.sensitive)
        relations = csc_array(self.relations)
        missing = -np.asarray(self.relations @ self.value)
        rows = [[relations, -relations, csc_array((relations.shape[0], m))]]
        lower, upper = [missing], [missing]
        for block, least, most in (*self._plain_choices(), *self._shifted_choices()):
            rows.append(block)
            lower.append(least)
            upper.append(most)
        program = LinearProgram(
            csc_array(block_array(rows)),
            np.zeros(2 * n + m),
            np.concatenate([np.maximum(self.high, 0), np.maximum(-self.low, 0), np.ones(m)]),
            cost=np.concatenate([self.weight, self.weight, np.zeros(m)]),
            row_lower=np.concatenate(lower),
            row_upper=np.concatenate(upper),
        )
        self._mark_whole(program, free)
        # Cells that must rise (low > 0) or fall (high < 0) whatever else happens.
        rising, falling = np.flatnonzero(self.low > 0), np.flatnonzero(self.high < 0)
        program.set_bounds(rising, self.low[rising], self.high[rising])
        program.set_bounds(falling + n, -self.high[falling], -self.low[falling])
        return program

    def _plain_choices(self) -> Iterator[tuple[list[Any], np.ndarray, np.ndarray]]:
        """Rows of the cells that must move: up*y <= d+ <= high*y, and d- likewise with 1 - y."""
        at = np.flatnonzero((self.up >= 0) & (self.down >= 0))
        up, down, high, depth = self._choice_limits(at)
        pick, none = self._picked(at)
        zero, infinite = np.zeros(len(at)), np.full(len(at), np.inf)
        yield [pick, none, self._at_choice(at, -high)], -infinite, zero
        yield [pick, none, self._at_choice(at, -up)], zero, infinite
        yield [none, pick, self._at_choice(at, depth)], -infinite, depth
        yield [none, pick, self._at_choice(at, down)], down, infinite

    def _shifted_choices(self) -> Iterator[tuple[list[Any], np.ndarray, np.ndarray]]:
        """Rows of the cells already beside their interval: a level is negative [castro2011].

        d >= up*y - depth*(1-y) and d <= high*y - down*(1-y); d = d+ - d- may have either sign.
        """
        at = np.flatnonzero((self.up < 0) | (self.down < 0))
        up, down, high, depth = self._choice_limits(at)
        pick, _ = self._picked(at)
        infinite = np.full(len(at), np.inf)
        yield [pick, -pick, self._at_choice(at, -up - depth)], -depth, infinite
        yield [pick, -pick, self._at_choice(at, -high - down)], -infinite, -down

    def _choice_limits(self, at: np.ndarray) -> tuple[np.ndarray, ...]:
        """Levels and widest changes of some of the sensitive cells."""
        up, down = self._levels()
        high = np.minimum(self.high[self.sensitive], self._big)
        depth = np.minimum(-self.low[self.sensitive], self._big)
        return up[at], down[at], high[at], depth[at]

    def _picked(self, at: np.ndarray) -> tuple[Any, Any]:
        """Return one row per cell with a one at it, and as many rows of zeros."""
        from scipy.sparse import csc_array

        shape = (len(at), self.n)
        one = (np.ones(len(at)), (np.arange(len(at)), self.sensitive[at]))
        return csc_array(one, shape=shape), csc_array(shape)

    def _at_choice(self, at: np.ndarray, numbers: np.ndarray) -> Any:
        from scipy.sparse import csc_array

        return csc_array((numbers, (np.arange(len(at)), at)), shape=(len(at), len(self.sensitive)))

    @property
    def _big(self) -> float:
        return float(4 * max(np.abs(self.value).max(initial=1.0), *self._levels_max(), 1.0))

    def _levels_max(self) -> tuple[float, float]:
        return float(np.abs(self.up).max(initial=0.0)), float(np.abs(self.down).max(initial=0.0))

    def _levels(self) -> tuple[np.ndarray, np.ndarray]:
        if self.integer:
            return np.ceil(self.up - MARGIN), np.ceil(self.down - MARGIN)
        at = self.sensitive
        return _passed(self.up, self.high[at]), _passed(self.down, -self.low[at])

    def _mark_whole(self, program: LinearProgram, free: np.ndarray) -> None:
        kinds = program._highspy.HighsVarType
        whole = 2 * self.n + np.flatnonzero(free)
        if self.integer:
            whole = np.concatenate([np.arange(2 * self.n), whole])
        if len(whole):
            code = np.full(len(whole), int(kinds.kInteger), dtype=np.uint8)
            program.solver.changeColsIntegrality(len(whole), whole.astype(np.int32), code)
            program.set_option("mip_rel_gap", self.gap)
        # Each programme is solved once, so there is no basis that presolving could spoil.
        program.set_option("presolve", "choose")
        program.set_option("solver", "choose")

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
        self.late = self.late or status == "time"
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
                if self.out_of_time:
                    break
                free = np.zeros(m, dtype=bool)
                free[part] = True
                found = self.solve(free, best[1], min(self.left, self.seconds / 10))
                if found is not None and found[2] < best[2]:
                    best = (*found[:3], False)
                advance(1)
        return best


def _passed(level: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return levels a little increased, but not beyond a limit that the level itself meets.

    A cell whose lower level is its value may fall to zero, and not a hair further.
    """
    more = level + MARGIN * (np.abs(level) + 1)
    return np.asarray(np.where(level <= most, np.minimum(more, most), more))
