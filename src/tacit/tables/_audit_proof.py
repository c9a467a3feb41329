"""Proofs that cells can change: few small linear programmes, each a witness for many cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from tacit.tables._audit_system import System
from tacit.tables._independent import independent_relations
from tacit.tables._linear_program import LinearProgram, UnsolvedError

if TYPE_CHECKING:
    from scipy.sparse import csc_array

SUPPORT = 1e-11
"""Share of the largest change below which a cell counts as not moving."""
SLACK = 1e-6
"""Share of a requirement that may be missing for rounding's sake."""
STRETCH = 100.0
"""How far a witness is stretched at most: rounding errors stretch with it."""
WORTH_LOOKING = 200
"""Relations from which on those that others imply are looked for, up to fifty times as many."""
COLD = 20_000
"""Cells of a system above which presolving each programme takes less time than a warm start."""
FINER = 1e6
"""Changes that count where a small one is looked for, as a multiple of it."""
PRIMAL = 4
"""What the solver calls its primal simplex."""
NOTHING = 1e-9
"""How far a cell moves that does not move at all, but for rounding."""
ANYWHERE = np.empty(0, dtype=np.int64)
Asked = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Places and weights of the sum that is to be large, and places of cells that are known."""


class Movements(Protocol):
    """Whatever finds changes that move one cell by a given amount or more."""

    def move(self, place: int, amount: float, known: np.ndarray = ANYWHERE) -> np.ndarray | None:
        """Return changes that move a cell by an amount or more, or nothing if there are none."""
        ...


class Flows:
    """Smallest changes that move one cell by a given amount: minimise the sum of moves.

    Parameters
    ----------
    system, until
        What can move, and when to stop (monotonic time).
    unit
        In what changes are counted; what suits the whole system unless given.
    seldom
        Whether so few questions follow that a smaller programme is not worth looking for.
    """

    def __init__(
        self,
        system: System,
        until: float = np.inf,
        unit: float | None = None,
        *,
        seldom: bool = False,
    ) -> None:
        from scipy.sparse import csc_array, hstack

        part = csc_array(system.relations) if seldom else _needed(system)
        self._system, self._until, self._is_fine = system, until, unit is not None
        self._n = len(system)
        self._unit = unit_of(system) if unit is None else unit
        self._limits = np.concatenate([system.upper, -system.lower]) / self._unit
        if self._is_fine:
            self._limits = np.minimum(self._limits, FINER)
        self._program = LinearProgram(
            csc_array(hstack([part, -part], format="csc")),
            np.zeros(2 * self._n),
            self._limits,
            cost=np.ones(2 * self._n),
        )
        self._program.until = until
        if self._n > COLD:
            self._program.set_option("presolve", "on")
        self.n_solved = 0

    def move(self, place: int, amount: float, known: np.ndarray = ANYWHERE) -> np.ndarray | None:
        """Return changes that move a cell by an amount, or nothing if there are none."""
        pair = np.array([place, place + self._n])
        size = abs(amount) / self._unit
        if size > self._limits[pair[0] if amount > 0 else pair[1]] * (1 + SLACK):
            return None
        held = np.concatenate([known, known + self._n])
        self._program.set_bounds(held, 0.0, 0.0)
        fixed = (size, 0.0) if amount > 0 else (0.0, size)
        self._program.set_bounds(pair, fixed, fixed)
        values = self._solved()
        self._program.set_bounds(held, 0.0, self._limits[held])
        self._program.set_bounds(pair, 0.0, self._limits[pair])
        if values is None:
            return None
        change = np.asarray((values[: self._n] - values[self._n :]) * self._unit)
        # What the solver takes for rounding may be more than a small cell moves among large ones.
        if missed(self._system, change, known) <= SLACK * abs(amount):
            return change
        if self._is_fine:
            return None
        fine = Flows(self._system, self._until, abs(amount), seldom=True)
        return fine.move(place, amount, known)

    def _solved(self) -> np.ndarray | None:
        self.n_solved += 1
        self._program.forget()
        status = self._program.solve()
        return self._program.values if status == "optimal" else None


class Extremes:
    """Largest and least changes, cell by cell, from one warm basis unless the system is large."""

    def __init__(self, system: System, until: float = np.inf, unit: float | None = None) -> None:
        self._system, self._until, self._is_fine = system, until, unit is not None
        self._n, self._unit = len(system), unit_of(system) if unit is None else unit
        self._limits = system.lower / self._unit, system.upper / self._unit
        if self._is_fine:
            self._limits = np.maximum(self._limits[0], -FINER), np.minimum(self._limits[1], FINER)
        self._program = LinearProgram(_needed(system), *self._limits)
        self._program.until = until
        self._is_cold = self._n > COLD
        if self._is_cold:
            self._program.set_option("presolve", "on")
        else:
            self._program.set_option("simplex_strategy", PRIMAL)
        self.n_solved = 0

    def largest(
        self, places: np.ndarray, weights: np.ndarray, known: np.ndarray = ANYWHERE
    ) -> tuple[float, np.ndarray | None]:
        """Return the largest weighted sum of changes, and the changes that reach it if finite.

        Raises
        ------
        UnsolvedError
            If the solver does not find it: nothing may be concluded then.
        """
        self.n_solved += 1
        self._program.set_bounds(known, 0.0, 0.0)
        self._program.set_cost(places, -np.asarray(weights))
        if self._is_cold:
            self._program.forget()
        status = self._program.settle("optimal", "unbounded")
        change = self._program.values * self._unit if status == "optimal" else None
        self._program.set_cost(places, 0.0)
        self._program.set_bounds(known, *(side[known] for side in self._limits))
        if status not in ("optimal", "unbounded"):
            raise UnsolvedError.of(status)
        if change is None:
            return np.inf, None
        unit = self._unit if self._is_fine else np.inf
        return sure(self._system, change, (places, weights, known), self._until, unit)


def sure(
    system: System, change: np.ndarray, asked: Asked, until: float, unit: float = np.inf
) -> tuple[float, np.ndarray | None]:
    """Return how far changes go and these; what may be the solver's rounding is asked anew.

    Among large cells a small one may be off by more than is required of it. Then it is looked for
    in a unit of what was reached, so that rounding is small beside it.

    Raises
    ------
    UnsolvedError
        If that is no better.
    """
    places, weights, known = asked
    reached = max(float(weights @ change[places]), 0.0)  # nothing need move at all
    if missed(system, change, known) <= SLACK * reached:
        return reached, change
    if reached <= NOTHING:
        return 0.0, None
    if reached > unit / 2:
        raise UnsolvedError.of("failed")
    return Extremes(system, until, reached).largest(places, weights, known)


def missed(system: System, change: np.ndarray, known: np.ndarray = ANYWHERE) -> float:
    """Return by how much changes miss a relation, a bound or a known cell, at most."""
    off = (
        np.abs(system.relations @ change), change - system.upper, system.lower - change,
        np.abs(change[known]),
    )  # fmt: skip
    return max(float(one.max(initial=0.0)) for one in off)


class Proofs:
    """What has been shown possible of each cell of a system, and by which witness."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.low = np.zeros(len(system))
        self.high = np.zeros(len(system))
        self._supports: list[np.ndarray] = []
        self._steps: list[np.ndarray] = []

    def add(self, change: np.ndarray) -> None:
        """Learn from changes that are possible: stretched, and turned round, as far as they go."""
        size = np.abs(change)
        support = np.flatnonzero(size > SUPPORT * size.max(initial=0.0))
        if not len(support):
            return
        self._supports.append(support)
        step = change[support]
        sure_of = size[support] >= missed(self.system, change) / SLACK
        self._steps.append(step)
        up, down = self.system.upper[support], -self.system.lower[support]
        with np.errstate(divide="ignore", over="ignore"):  # steps may be as small as levels are
            ahead = np.where(step > 0, up, down) / np.abs(step)
            back = np.where(step > 0, down, up) / np.abs(step)
        for factor in (np.clip(ahead.min(), 1.0, STRETCH), -min(back.min(), STRETCH)):
            self._widen(support[sure_of], step[sure_of] * factor)

    def _widen(self, support: np.ndarray, reached: np.ndarray) -> None:
        self.high[support] = np.maximum(self.high[support], reached)
        self.low[support] = np.minimum(self.low[support], reached)

    @property
    def witnesses(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The changes learned from: cells of the table and how far they move."""
        return [(self.system.cells[support], step) for support, step in self.movements]

    @property
    def movements(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The changes learned from: places and how far they move."""
        return list(zip(self._supports, self._steps, strict=True))


class Goals:
    """What must be shown of the cells of a system."""

    def __init__(self, below: np.ndarray, above: np.ndarray, width: np.ndarray) -> None:
        self.below, self.above, self.width = below, above, width

    def met(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return which cells reach far enough."""
        reaches = (-low >= self.below * (1 - SLACK)) & (high >= self.above * (1 - SLACK))
        return np.asarray(reaches & (high - low >= self.width * (1 - SLACK)))


def prove(proofs: Proofs, flows: Movements, goals: Goals, place: int) -> bool:
    """Try to show what one cell must reach; return whether it could be shown."""
    below, above, width = goals.below[place], goals.above[place], goals.width[place]
    if proofs.high[place] < above * (1 - SLACK) and not _push(proofs, flows, place, above):
        return False
    if -proofs.low[place] < below * (1 - SLACK) and not _push(proofs, flows, place, -below):
        return False
    if proofs.high[place] - proofs.low[place] >= width * (1 - SLACK):
        return True
    further = width + proofs.low[place]
    return _push(proofs, flows, place, further) or _push(
        proofs, flows, place, proofs.high[place] - width
    )


def _push(proofs: Proofs, flows: Movements, place: int, amount: float) -> bool:
    change = flows.move(place, amount)
    if change is None:
        return False
    proofs.add(change)
    return True


def _needed(system: System) -> csc_array:
    """Return the relations of a system without those that others imply, if that takes no time."""
    from scipy.sparse import csc_array

    rows = system.relations
    if not WORTH_LOOKING <= rows.shape[0] <= WORTH_LOOKING * 50:
        return csc_array(rows)
    return csc_array(independent_relations(rows))


def unit_of(system: System) -> float:
    """Return the unit in which changes are counted: the median of the finite bounds."""
    size = np.concatenate([system.upper, -system.lower])
    size = size[np.isfinite(size) & (size > 0)]
    return float(np.median(size)) if len(size) else 1.0
