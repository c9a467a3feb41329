"""The problem of optimal suppression: what may be hidden, at what cost, against which attacks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._attacker import Attacker
from tacit.tables._audit_attack import Attack, Found, Plan
from tacit.tables._levels import Levels
from tacit.tables._linear_program import UnsolvedError
from tacit.tables.suppress._optimal_dense import Dense
from tacit.tables.suppress._optimal_thinning import Thinning
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
    witnesses: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    """Possible changes seen in earlier attacks: they still prove what they move if all of it is
    suppressed. The audit of the result does not see them."""

    @cached_property
    def candidates(self) -> np.ndarray:
        """Positions of the cells that may be suppressed on top."""
        lower, upper = self.table.bounds
        return np.flatnonzero(~self.fixed & ~self.blocked & (upper > lower))

    @cached_property
    def dense(self) -> Dense | None:
        """The table for direct answers, if it is small."""
        return Dense(self) if Dense.fits(self) else None

    @cached_property
    def outsiders(self) -> list[Threat]:
        """The threats by those who know no cell, largest first."""
        found = [self.threat(int(cell)) for cell in np.flatnonzero(self.primary)]
        return sorted(found, key=lambda threat: -threat.size)

    def price(self, pattern: np.ndarray) -> float:
        """Return the cost of the cells suppressed on top."""
        return float(self.cost[pattern & ~self.fixed].sum())

    def threat(self, cell: int, known: np.ndarray = NOBODY) -> Threat:
        """Return the threat to one cell by whoever knows some others."""
        levels = self.levels
        below, above, width = levels.below[cell], levels.above[cell], levels.width[cell]
        return Threat(int(cell), float(below), float(above), float(width), known)

    def threats(self, pattern: np.ndarray, until: float = np.inf) -> list[Threat]:
        """Return the threats that a pattern does not stand, found by attacking it.

        Raises
        ------
        UnsolvedError
            If that is not known when time is over (monotonic time).
        """
        if self.dense is not None and not self.singletons:
            return self.dense.open_threats(pattern, self.outsiders)
        plan = Plan(self.table, pattern, self.table.bounds, self.primary)
        cells = np.flatnonzero(self.primary)
        attack = Attack(plan, self.levels, cells, exact=False, until=until)
        for moved, change in self.witnesses:
            if pattern[moved].all():
                attack.learn(moved, change)
        seen = attack.outsider()
        self.witnesses[:] = [w for part in attack.parts for w in part.proofs.witnesses]
        open_cells = cells[~attack.met(cells, seen.low[cells], seen.high[cells])]
        found = [self.threat(cell) for cell in open_cells]
        if self.singletons:
            attack.insiders(1)
            found += [_of_insider(breach) for breach in attack.breaches]
        return found

    # -- patterns by heuristics -----------------------------------------------------------------

    def grown(
        self,
        start: np.ndarray,
        threats: Iterable[Threat],
        cost: np.ndarray | None = None,
        until: float = np.inf,
        shut: Iterable[int] = (),
    ) -> np.ndarray:
        """Return a pattern with cells added, threat by threat, smallest first; none that is `shut`.

        Raises
        ------
        ProtectionError
            Naming every cell that nothing can protect.
        UnsolvedError
            If time is over (monotonic time).
        """
        threats = sorted(threats, key=lambda threat: threat.size)
        if self.dense is not None:
            found = self.dense.grown(start, threats, self.cost if cost is None else cost, shut)
            if found is not None:
                lost = [threats[k].cell for k in np.flatnonzero(found[1])]
                if lost:
                    raise self.refusal(np.unique(lost))
                return found[0]
        attacker = self._attacker
        attacker.restart(start, self.cost if cost is None else cost, until)
        lost = []
        for threat in threats:
            try:
                attacker.protect(
                    threat.cell, threat.below, threat.above, threat.width, (*threat.known, *shut)
                )
            except ProtectionError:
                if time.monotonic() >= until:
                    raise self.late() from None
                lost.append(threat.cell)
        if lost:
            raise self.refusal(np.unique(lost))
        return attacker.suppressed.copy()

    @cached_property
    def _attacker(self) -> Attacker:
        return Attacker(self.table, self.fixed, cost=self.cost, blocked=self.blocked)

    @property
    def work(self) -> float:
        """Work of letting patterns grow so far."""
        made = vars(self).get("_attacker")
        small = 0.0 if self.dense is None else self.dense.work
        return small + (0.0 if made is None else float(made.work))

    def refusal(self, cells: np.ndarray) -> ProtectionError:
        """Return the error that names the cells nothing can protect."""
        return ProtectionError(
            "no pattern of suppressions protects every sensitive cell",
            got=self.table.describe(cells),
            do="release frozen cells, let empty cells be suppressed, or collapse categories",
        )

    def late(self) -> UnsolvedError:
        """Return the error that says that time was over."""
        return UnsolvedError(
            "time was over before a pattern was found that protects every sensitive cell",
            got=f"{int(self.primary.sum()):,} sensitive cells of {self.table.n_cells:,}",
            do="give more seconds, or use SuppressModular",
        )

    def thinned(
        self,
        pattern: np.ndarray,
        threats: Iterable[Threat],
        among: np.ndarray | None = None,
        until: float = np.inf,
    ) -> np.ndarray:
        """Return a pattern without the cells that protect nobody, dearest tried first.

        Only cells `among` (flags) are tried where given, and none after `until` (monotonic time).
        """
        if self.dense is not None:
            return self.dense.thinned(pattern, list(threats), among)
        return Thinning(self, pattern, list(threats), until).run(among)


def _of_insider(found: Found) -> Threat:
    goals = found.goals
    below, above, width = (float(side[0]) for side in (goals.below, goals.above, goals.width))
    return Threat(found.cell, below, above, width, found.known)
