"""The attack itself: component by component, proofs first, exact intervals where needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.core.progress import track
from tacit.tables._audit_insiders import (
    Insiders,
    coalitions,
    excused_pairs,
    single_respondents,
)
from tacit.tables._audit_knit import KnitChanges, free_changes
from tacit.tables._audit_nearby import LARGE, NearbyFlows
from tacit.tables._audit_prior import Beforehand
from tacit.tables._audit_proof import Extremes, Flows, Goals, Proofs, prove
from tacit.tables._audit_resistance import Move, Resistance
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
    goals: Goals
    """What is required against them."""


@dataclass(frozen=True, eq=False)
class Sum:
    """The intruder's interval of a sum of cells."""

    cells: np.ndarray
    value: float
    low: float
    high: float
    below: float = 0.0
    above: float = 0.0
    width: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the interval is as wide as was required."""
        slack = 1e-6 * max(abs(self.value), 1.0)
        return (
            self.value - self.low >= self.below - slack
            and self.high - self.value >= self.above - slack
            and self.high - self.low >= self.width * (1 - 1e-6)
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

    def __init__(self, system: System, until: float = np.inf) -> None:
        self.system, self._until = system, until
        self.proofs = Proofs(system)

    @cached_property
    def knit(self) -> KnitChanges | None:
        """The programme in the few cells that determine all others, where there are such."""
        free = free_changes(self.system.relations)
        return None if free is None else KnitChanges(self.system, free, self._until)

    @cached_property
    def flows(self) -> Flows | NearbyFlows | KnitChanges:
        """The programme that moves one cell."""
        if self.knit is not None:
            return self.knit
        kind = NearbyFlows if len(self.system) > LARGE else Flows
        return kind(self.system, self._until)

    @property
    def nearby(self) -> Move:
        """What moves one cell among those around it, where these are not the whole."""
        return self.flows.nearby if isinstance(self.flows, NearbyFlows) else self.flows.move

    @cached_property
    def extremes(self) -> Extremes | KnitChanges:
        """The programme that moves a cell as far as it goes."""
        return self.knit or Extremes(self.system, self._until)

    @property
    def n_programs(self) -> int:
        """Programmes solved so far."""
        made = {id(one): one for one in map(vars(self).get, ("knit", "flows", "extremes"))}
        return sum(one.n_solved for one in made.values() if one is not None)

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


def _excused_groups(
    plan: Plan, single: Insiders, groups: list[tuple[int, ...]]
) -> dict[int, set[int]]:
    """Return the groups with a respondent that a sensitive cell need not be kept from."""
    pairs = excused_pairs(plan.table, plan.primary & plan.hidden, single)
    named = {owner for owners in pairs.values() for owner in owners}
    member_of: dict[int, set[int]] = {}
    for name, group in enumerate(groups):
        for owner in named.intersection(group):
            member_of.setdefault(owner, set()).add(name)
    return {
        cell: set().union(*(member_of[owner] for owner in owners)) for cell, owners in pairs.items()
    }


class Attack:
    """An intruder at work on one table, until time is over: then `UnsolvedError` is raised."""

    def __init__(
        self,
        plan: Plan,
        levels: Levels,
        chosen: np.ndarray,
        *,
        exact: bool,
        until: float = np.inf,
    ) -> None:
        self.plan, self.levels, self._exact, self._until = plan, levels, exact, until
        self._chosen = np.zeros(plan.table.n_cells, dtype=bool)
        self._chosen[chosen] = True
        table = plan.table
        system = system_of(table.value, table.relations, plan.hidden, plan.bounds)
        self.parts = [Part(system.take(group), until) for group in components(system)]
        self._part_of = np.full(table.n_cells, -1)
        self._place_of = np.zeros(table.n_cells, dtype=np.int64)
        for name, part in enumerate(self.parts):
            self._part_of[part.system.cells] = name
            self._place_of[part.system.cells] = np.arange(len(part.system))
        self._is_weak = np.zeros(table.n_cells, dtype=bool)
        self.breaches: list[Found] = []
        self.n_insiders = 0

    @property
    def n_programs(self) -> int:
        """Programmes solved so far."""
        return sum(part.n_programs for part in self.parts)

    @property
    def component(self) -> np.ndarray:
        """A number per cell, the same for cells that relations join; -1 for those known."""
        return self._part_of

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
        every = np.arange(n)
        self._is_weak = self._chosen & ~self.met(every, low, high)
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
        """Attack as each respondent who is alone in a cell, and as coalitions of them.

        They attack every sensitive cell of the component in which they know a cell, beside it or
        far away, unless outsiders can work it out already.
        """
        plan = self.plan
        single = single_respondents(plan.table, plan.hidden)
        groups = list(coalitions(plan.table, single, coalition))
        self.n_insiders = len(groups)
        known = [np.unique(np.concatenate([single.known[k] for k in group])) for group in groups]
        excused = _excused_groups(plan, single, groups)
        by_part: dict[int, dict[int, np.ndarray]] = {}
        for name, cells in enumerate(known):
            parts = self._part_of[cells]
            for part in np.unique(parts[parts >= 0]).tolist():
                by_part.setdefault(part, {})[name] = self._place_of[cells[parts == part]]
        with track("attacking as respondents", len(by_part)) as advance:
            for part, held in by_part.items():
                self._inside(self.parts[part], held, known, excused)
                advance(1)

    def _inside(
        self,
        part: Part,
        held: dict[int, np.ndarray],
        known: list[np.ndarray],
        excused: dict[int, set[int]],
    ) -> None:
        """Attack the sensitive cells of one component with what respondents know of it."""
        cells = part.system.cells
        goals = self._goals(cells)
        targets = np.flatnonzero((self.plan.primary & self._chosen & ~self._is_weak)[cells])
        resistance = Resistance(part.system, goals, targets, held)
        for support, step in part.proofs.movements:
            resistance.learn(support, step)
        for place in targets.tolist():
            pardoned = excused.get(int(cells[place]), ())
            for name in sorted(resistance.unshown(place, part.flows, part.nearby, pardoned)):
                self._exactly(part, place, held[name], known[name])

    def _exactly(self, part: Part, place: int, held: np.ndarray, known: np.ndarray) -> None:
        """Note a breach if the exact interval of a cell, others being known, is too narrow."""
        at = part.system.cells[[place]]
        goals = self._cut(int(at[0]), known)
        if isinstance(part.flows, NearbyFlows) and _is_shown(part, place, goals, held):
            return
        low, high = (np.array([end]) for end in part.interval(place, held))
        if not goals.met(low, high)[0]:
            point = bool(self.is_point(at, low, high)[0])
            found = Found(int(at[0]), known, float(low[0]), float(high[0]), point, goals)
            self.breaches.append(found)

    def _cut(self, cell: int, known: np.ndarray) -> Goals:
        """Return what is required against someone, cut at what it knows beforehand."""
        goals = self._goals(np.array([cell]))
        enough = float(max(goals.below[0], goals.above[0], goals.width[0]))
        down, up = (np.array([self._prior.reach(cell, sign, known, enough)]) for sign in (-1, 1))
        return Goals(
            np.minimum(goals.below, down),
            np.minimum(goals.above, up),
            np.minimum(goals.width, down + up),
        )

    @cached_property
    def _prior(self) -> Beforehand:
        return Beforehand(self.plan.table, self.plan.bounds, self._until)

    # -- sums -----------------------------------------------------------------------------------

    def sums(self, asked: Iterable[Any], n_cells: int) -> tuple[Sum, ...]:
        """Return the intruder's intervals of sums of some of the first `n_cells` cells."""
        return tuple(self._sum(*_read_sum(one, n_cells)) for one in asked)

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


def _is_shown(part: Part, place: int, goals: Goals, held: np.ndarray) -> bool:
    """Whether movements show what is required of one cell.

    Of large systems that is found sooner than how far it can move, which may be without end.
    """
    below, above = float(goals.below[0]), float(goals.above[0])
    missing = max(float(goals.width[0]) - above - below, 0.0)
    more = min(missing, max(float(part.system.upper[place]) - above, 0.0))
    amounts = (above + more, -(below + missing - more))
    return all(one == 0 or part.flows.move(place, one, held) is not None for one in amounts)


def _read_sum(asked: Any, n_cells: int) -> tuple[np.ndarray, float, float]:
    """Read positions, or positions with requirements."""
    given = list(asked)
    cells, below, above = given if len(given) == 3 and np.ndim(given[0]) else (given, 0.0, 0.0)
    cells = np.unique(np.asarray(cells, dtype=np.int64))
    if not len(cells) or cells[0] < 0 or cells[-1] >= n_cells:
        raise ParameterError("a sum needs positions of cells of the table", got=asked)
    return cells, float(below), float(above)
