"""The attack itself: component by component, proofs first, exact intervals where needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.core.progress import track
from tacit.tables._audit_insiders import insider_attacks
from tacit.tables._audit_proof import Extremes, Flows, Goals, Proofs, prove
from tacit.tables._audit_system import KNOWN, System, components, system_of
from tacit.tables._levels import LEAST, Levels
from tacit.tables.protected import ProtectedTable
from tacit.tables.table import Table


@dataclass(frozen=True, eq=False)
class Plan:
    """What the intruder sees: the original, the cells not known, and bounds on them."""

    table: Table
    hidden: np.ndarray
    bounds: tuple[np.ndarray, np.ndarray]
    primary: np.ndarray
    """Sensitive cells without a waiver (flags)."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Changes of each cell that the intruder cannot rule out."""

    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray


@dataclass(frozen=True, eq=False)
class Found:
    """A requirement that respondents knowing some cells can break."""

    cell: int
    known: np.ndarray
    low: float
    high: float
    point: bool


@dataclass(frozen=True, eq=False)
class Sum:
    """The intruder's interval of a sum of cells."""

    cells: np.ndarray
    value: float
    low: float
    high: float
    below: float = 0.0
    above: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the interval is as wide as was required."""
        slack = 1e-6 * max(abs(self.value), 1.0)
        return (
            self.value - self.low >= self.below - slack
            and self.high - self.value >= self.above - slack
        )


def attack_plan(protected: ProtectedTable, known_within: float | None) -> Plan:
    """Read off what an intruder sees of a protected table."""
    table = protected.original
    lower, upper = table.bounds
    hidden = protected.suppressed.copy()
    if protected.changed.any() or "intervals" in protected.notes:
        claim = protected.notes.get("intervals")
        if claim is None:
            raise DataError(
                "the attack on suppressed cells says nothing of a table whose values were changed",
                got=protected.method or "changed values",
                do="use the checks of that method, or one that states the intervals users can "
                'derive from a published value in notes["intervals"]',
            )
        lower, upper = np.fmax(lower, claim[0]), np.fmin(upper, claim[1])
        hidden |= upper > lower
    if known_within is not None:
        reach = np.abs(table.value) * (known_within / 100)
        lower, upper = (
            np.maximum(lower, table.value - reach),
            np.minimum(upper, table.value + reach),
        )
    primary = protected.sensitive.cells
    primary = primary if table.waived is None else primary & ~table.waived
    return Plan(table, hidden, (lower, upper), primary)


class Part:
    """One component of the intruder's system with its programmes, made when first needed."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.proofs = Proofs(system)

    @cached_property
    def flows(self) -> Flows:
        """The programme that moves one cell."""
        return Flows(self.system)

    @cached_property
    def extremes(self) -> Extremes:
        """The programme that moves a cell as far as it goes."""
        return Extremes(self.system)

    @property
    def n_programs(self) -> int:
        """Programmes solved so far."""
        made = [vars(self).get(name) for name in ("flows", "extremes")]
        return sum(one.n_solved for one in made if one is not None)

    def interval(self, place: int, known: np.ndarray) -> tuple[float, float]:
        """Return the least and the largest change of a cell for whoever knows some others."""
        at, one = np.array([place]), np.ones(1)
        high, up = self.extremes.largest(at, one, known)
        low, down = self.extremes.largest(at, -one, known)
        for change in (up, down):
            if change is not None:
                self.proofs.add(change)
        return -low, high


NOTHING = np.empty(0, dtype=np.int64)


class Attack:
    """An intruder at work on one table."""

    def __init__(self, plan: Plan, levels: Levels, chosen: np.ndarray, *, exact: bool) -> None:
        self.plan, self.levels, self._exact = plan, levels, exact
        self._chosen = np.zeros(plan.table.n_cells, dtype=bool)
        self._chosen[chosen] = True
        table = plan.table
        system = system_of(table.value, table.relations, plan.hidden, plan.bounds)
        self.parts = [Part(system.take(group)) for group in components(system)]
        self._part_of = np.full(table.n_cells, -1)
        self._place_of = np.zeros(table.n_cells, dtype=np.int64)
        for name, part in enumerate(self.parts):
            self._part_of[part.system.cells] = name
            self._place_of[part.system.cells] = np.arange(len(part.system))
        self.breaches: list[Found] = []
        self.n_insiders = 0

    @property
    def n_programs(self) -> int:
        """Programmes solved so far."""
        return sum(part.n_programs for part in self.parts)

    # -- verdicts -------------------------------------------------------------------------------

    def met(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return whether changes reach as far as the levels of some cells require."""
        return self._goals(cells).met(low, high)

    def is_point(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return whether intervals are as good as points."""
        size = np.maximum(np.abs(self.plan.table.value[cells]), 1.0)
        return np.asarray(high - low < LEAST * size * 0.999)

    def _goals(self, cells: np.ndarray) -> Goals:
        levels = self.levels
        return Goals(levels.below[cells], levels.above[cells], levels.width[cells])

    def learn(self, cells: np.ndarray, change: np.ndarray) -> None:
        """Take over a change found earlier, if every cell it moves is still unknown."""
        names = self._part_of[cells]
        if (names < 0).any():
            return
        for name in np.unique(names):
            part, mine = self.parts[name], names == name
            whole = np.zeros(len(part.system))
            whole[self._place_of[cells[mine]]] = change[mine]
            if ((whole >= part.system.lower) & (whole <= part.system.upper)).all():
                part.proofs.add(whole)

    # -- outsiders ------------------------------------------------------------------------------

    def outsider(self) -> Outcome:
        """Attack with what is published."""
        n = self.plan.table.n_cells
        low, high, exact = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
        with track("attacking suppressed cells", len(self.parts)) as advance:
            for part in self.parts:
                cells = part.system.cells
                low[cells], high[cells], exact[cells] = self._one_part(part)
                advance(1)
        return Outcome(low, high, exact)

    def _one_part(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cells, proofs = part.system.cells, part.proofs
        goals = self._goals(cells)
        chosen = np.flatnonzero(self._chosen[cells])
        exact = np.zeros(len(cells), dtype=bool)
        need = (goals.below + goals.above)[chosen]
        intervals = {}
        for place in chosen[np.argsort(-need, kind="stable")]:
            if self._exact:
                intervals[place] = self._exact_interval(part, int(place))
            elif not prove(proofs, part.flows, goals, int(place)):
                intervals[place] = part.interval(int(place), NOTHING)
        low, high = proofs.low.copy(), proofs.high.copy()
        for place, interval in intervals.items():
            (low[place], high[place]), exact[place] = interval, True
        return low, high, exact

    def _exact_interval(self, part: Part, place: int) -> tuple[float, float]:
        """Return the true interval; where a witness touches the propagated bounds it is that."""
        system, proofs = part.system, part.proofs
        hair = KNOWN * max(abs(self.plan.table.value[system.cells[place]]), 1.0)
        ends = []
        for sign, outer, seen in (
            (-1.0, -system.lower[place], -proofs.low[place]),
            (1.0, system.upper[place], proofs.high[place]),
        ):
            if seen < outer - hair:
                seen, change = part.extremes.largest(np.array([place]), np.array([sign]))
                if change is not None:
                    proofs.add(change)
            ends.append(seen)
        return -ends[0], ends[1]

    # -- insiders -------------------------------------------------------------------------------

    def insiders(self, coalition: int) -> None:
        """Attack as each respondent who is alone in a cell, and as coalitions of them."""
        plan = self.plan
        attacks = insider_attacks(plan.table, plan.hidden, plan.primary & self._chosen, coalition)
        for known, targets in attacks:
            self.n_insiders += 1
            for cell in targets:
                if self._part_of[cell] >= 0:
                    self._insider(int(cell), known)

    def _insider(self, cell: int, known: np.ndarray) -> None:
        part, place = self.parts[self._part_of[cell]], int(self._place_of[cell])
        held = self._place_of[known[self._part_of[known] == self._part_of[cell]]]
        goals = self._goals(np.array([cell]))
        proofs = part.proofs
        if goals.met(proofs.low[[place]], proofs.high[[place]])[0] and proofs.avoids(place, held):
            return
        low, high = self._insider_interval(part, place, held, goals)
        if not goals.met(np.array([low]), np.array([high]))[0]:
            at = np.array([cell])
            point = self.is_point(at, np.array([low]), np.array([high]))
            self.breaches.append(Found(cell, known, low, high, bool(point[0])))

    def _insider_interval(
        self, part: Part, place: int, held: np.ndarray, goals: Goals
    ) -> tuple[float, float]:
        """Return what is shown of a cell to someone who knows others: first proofs, then exact."""
        above, below = goals.above[0], goals.below[0]
        up = part.flows.move(place, above, held) if above > 0 else None
        if up is not None:
            turned = Proofs(part.system)
            turned.add(up)
            if goals.met(turned.low[[place]], turned.high[[place]])[0]:
                return float(turned.low[place]), float(turned.high[place])
            down = part.flows.move(place, -below, held) if below > 0 else None
            if down is not None and above + below >= goals.width[0]:
                return -below, above
        return part.interval(place, held)

    # -- sums -----------------------------------------------------------------------------------

    def sums(self, asked: Iterable[Any]) -> tuple[Sum, ...]:
        """Return the intruder's intervals of sums of cells."""
        return tuple(self._sum(*_read_sum(one, self.plan.table.n_cells)) for one in asked)

    def _sum(self, cells: np.ndarray, below: float, above: float) -> Sum:
        value = float(self.plan.table.value[cells].sum())
        low = high = value
        for name in np.unique(self._part_of[cells]):
            if name < 0:
                continue
            places = self._place_of[cells[self._part_of[cells] == name]]
            ones = np.ones(len(places))
            high += self.parts[name].extremes.largest(places, ones)[0]
            low -= self.parts[name].extremes.largest(places, -ones)[0]
        return Sum(cells, value, low, high, below, above)


def _read_sum(asked: Any, n_cells: int) -> tuple[np.ndarray, float, float]:
    """Read positions, or positions with requirements."""
    given = list(asked)
    cells, below, above = given if len(given) == 3 and np.ndim(given[0]) else (given, 0.0, 0.0)
    cells = np.unique(np.asarray(cells, dtype=np.int64))
    if not len(cells) or cells[0] < 0 or cells[-1] >= n_cells:
        raise ParameterError("a sum needs positions of cells of the table", got=asked)
    return cells, float(below), float(above)
