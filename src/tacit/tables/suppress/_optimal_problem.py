"""The problem of optimal suppression: what may be hidden, at what cost, against which attacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._attacker import Attacker
from tacit.tables._audit_attack import Attack, Plan
from tacit.tables._audit_proof import Flows
from tacit.tables._audit_system import system_of
from tacit.tables._levels import Levels
from tacit.tables.table import Table

NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Threat:
    """A sensitive cell, the protection it needs, and the cells its attacker knows."""

    cell: int
    below: float
    above: float
    width: float
    known: np.ndarray = field(default_factory=lambda: NOBODY)

    @cached_property
    def name(self) -> tuple[int, ...]:
        """What tells this threat from others."""
        return (self.cell, *map(int, self.known))

    @property
    def size(self) -> float:
        """The protection needed on both sides together."""
        return max(self.below + self.above, self.width)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table whose sensitive cells need a cheapest pattern of suppressions."""

    table: Table
    levels: Levels
    primary: np.ndarray
    """Sensitive cells (flags)."""
    fixed: np.ndarray
    """Cells suppressed in any case (flags)."""
    blocked: np.ndarray
    """Cells that must be published (flags)."""
    cost: np.ndarray
    """Cost of suppressing each cell."""
    singletons: bool = False
    """Whether respondents alone in a cell attack with what they know."""

    @cached_property
    def candidates(self) -> np.ndarray:
        """Positions of the cells that may be suppressed on top."""
        lower, upper = self.table.bounds
        return np.flatnonzero(~self.fixed & ~self.blocked & (upper > lower))

    def price(self, pattern: np.ndarray) -> float:
        """Return the cost of the cells suppressed on top."""
        return float(self.cost[pattern & ~self.fixed].sum())

    def threat(self, cell: int, known: np.ndarray = NOBODY) -> Threat:
        """Return the threat to one cell by whoever knows some others."""
        levels = self.levels
        needs = (float(part[cell]) for part in (levels.below, levels.above, levels.width))
        return Threat(int(cell), *needs, known)

    def threats(self, pattern: np.ndarray) -> list[Threat]:
        """Return the threats that a pattern does not stand, found by attacking it."""
        plan = Plan(self.table, pattern, self.table.bounds, self.primary)
        cells = np.flatnonzero(self.primary)
        attack = Attack(plan, self.levels, cells, exact=False)
        seen = attack.outsider()
        open_cells = cells[~attack.met(cells, seen.low[cells], seen.high[cells])]
        found = [self.threat(cell) for cell in open_cells]
        if self.singletons:
            attack.insiders(1)
            found += [self.threat(b.cell, b.known) for b in attack.breaches]
        return found

    # -- patterns by heuristics -----------------------------------------------------------------

    def grown(
        self, start: np.ndarray, threats: Iterable[Threat], cost: np.ndarray | None = None
    ) -> np.ndarray:
        """Return a pattern with cells added, threat by threat, largest first.

        Raises
        ------
        ProtectionError
            Naming every cell that nothing can protect.
        """
        attacker = Attacker(
            self.table, start, cost=self.cost if cost is None else cost, blocked=self.blocked
        )
        lost = []
        for threat in sorted(threats, key=lambda t: -t.size):
            try:
                attacker.protect(
                    threat.cell, threat.below, threat.above, threat.width, threat.known
                )
            except ProtectionError:
                lost.append(threat.cell)
        if lost:
            raise self.refusal(np.unique(lost))
        return attacker.suppressed

    def refusal(self, cells: np.ndarray) -> ProtectionError:
        """Return the error that names the cells nothing can protect."""
        return ProtectionError(
            "no pattern of suppressions protects every sensitive cell",
            got=self.table.describe(cells),
            do="release frozen cells, let empty cells be suppressed, or collapse categories",
        )

    def thinned(self, pattern: np.ndarray, threats: Iterable[Threat]) -> np.ndarray:
        """Return a pattern without the cells that protect nobody, dearest tried first."""
        return _Thinning(self, pattern, list(threats)).run()


class _Thinning:
    """Publish one added cell after the other as long as every threat still finds a way."""

    def __init__(self, problem: Problem, pattern: np.ndarray, threats: list[Threat]) -> None:
        table = problem.table
        self._problem, self._pattern, self._threats = problem, pattern.copy(), threats
        self._system = system_of(table.value, table.relations, pattern, table.bounds)
        self._flows = Flows(self._system)
        self._place = np.full(table.n_cells, -1)
        self._place[self._system.cells] = np.arange(len(self._system))
        self._gone: list[int] = []
        self._ways = [self._way(threat) for threat in threats]

    def _way(self, threat: Threat) -> np.ndarray | None:
        """Return the cells that move when a threatened cell moves as far as it must."""
        place = int(self._place[threat.cell])
        known = self._place[threat.known]
        held = np.concatenate([known[known >= 0], np.array(self._gone, dtype=np.int64)])
        up = max(threat.above, min(threat.width - threat.below, self._system.upper[place]))
        down = max(threat.below, threat.width - up)
        moving: list[np.ndarray] = []
        change = self._flows.move(place, up, held) if up > 0 else np.zeros(len(self._system))
        if change is None:
            return None
        if down > 0 and not (up > 0 and self._fits(change * (-down / up))):
            moving.append(change)
            change = self._flows.move(place, -down, held)
            if change is None:
                return None
        moving.append(change)
        return np.flatnonzero(np.max(np.abs(moving), axis=0) > 1e-9 * (up + down))

    def _fits(self, change: np.ndarray) -> bool:
        system = self._system
        return bool(np.all((change >= system.lower) & (change <= system.upper)))

    def run(self) -> np.ndarray:
        extra = np.flatnonzero(self._pattern & ~self._problem.fixed)
        for cell in extra[np.argsort(-self._problem.cost[extra], kind="stable")]:
            self._try(int(cell))
        return self._pattern

    def _try(self, cell: int) -> None:
        place = int(self._place[cell])
        if any(way is None for way in self._ways):
            return
        self._gone.append(place)
        renewed = {}
        for name, way in enumerate(self._ways):
            if way is not None and place in way:
                renewed[name] = self._way(self._threats[name])
                if renewed[name] is None:
                    self._gone.pop()
                    return
        for name, way in renewed.items():
            self._ways[name] = way
        self._pattern[cell] = False
