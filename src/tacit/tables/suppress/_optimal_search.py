"""The search: cuts until the relaxed master holds, then integer masters until a pattern holds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables._linear_program import UnsolvedError
from tacit.tables.suppress._optimal_company import Company
from tacit.tables.suppress._optimal_cuts import GLIMMER, Cut, Separator
from tacit.tables.suppress._optimal_fewest import Fewest
from tacit.tables.suppress._optimal_master import Master
from tacit.tables.suppress._optimal_problem import Problem, Threat
from tacit.tables.suppress._optimal_tree import Tree

STALL = 2e-4
"""Relative gain of the bound in a round below which the relaxed master is left."""
NEARLY = 0.05
"""Share of threats still open at which the pattern of an integer master is worth mending."""
COARSE = 0.05
"""Relative gap at which integer masters stop at first: most of their patterns still fail."""
FINER = 16
"""What that gap is divided by when a pattern holds."""
GUIDED = 0.05
"""Relative gap above which a pattern is grown along the relaxed master."""
FAR = 0.15
"""Relative gap from which on a small tree is not enough, nor limited work."""
CLOSE = 0.5
"""Relative gap below which the choice of the relaxed master says which cells are good ones."""
FEW = 2
"""Rounds of cuts before their effect is judged."""
SLOW = 0.01
"""Share of the gap that a round must close where work is limited."""
NODES = 100
"""Nodes of an integer programme at most where work is limited."""
EVEN = 1e-9
"""Share by which two costs may differ and still be the same."""
FINE = 1e-3
"""Relative gap below which the next one is that asked for."""


@dataclass(eq=False)
class Search:
    """Find a cheapest pattern that stands every threat; the best so far when time is over."""

    problem: Problem
    seconds: float
    gap: float
    first: np.ndarray | None = None
    """A pattern that protects every cell, found by another method: to begin with."""
    start: np.ndarray | None = None
    """Cells to begin with that need not protect anything, where there is no such pattern."""
    work: float = np.inf
    """Work of programmes after which it ends, whatever the clock says."""
    best: np.ndarray = field(init=False)
    bound: float = 0.0
    is_fewest: bool = False
    """Whether it is proven that no pattern of least cost has fewer cells."""
    n_rounds: int = 0
    n_cuts: int = 0

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._until = self._started + self.seconds
        self._threats: dict[tuple[int, ...], Threat] = {}
        self.has_pattern = self.first is not None
        """Whether the best pattern so far protects every cell."""
        self.best = self.problem.fixed.copy()
        if self.first is not None:
            self.best |= self.first

    # -- outside --------------------------------------------------------------------------------

    def run(self) -> None:
        """Search until the gap is closed or time is over.

        Raises
        ------
        ProtectionError
            If nothing protects some cells, or time is over and no pattern was found.
        """
        try:
            if self._begin():
                self._rounds()
        except UnsolvedError:
            if self.left_on_clock > 0:
                raise
        if not self.has_pattern:
            raise self.problem.late()

    def _begin(self) -> bool:
        """Find a first pattern; return whether a cheaper one is worth looking for."""
        fixed = self.problem.fixed
        if not self._learn(self.problem.threats(fixed, self._until)):
            self.best, self.has_pattern = fixed.copy(), True
            return False
        self.best, self.has_pattern = self._first(), True
        return self.left_on_clock > 0

    def _rounds(self) -> None:
        """Add cuts, first to the relaxed master, then where choices are whole."""
        cost = self.problem.cost[self.problem.candidates]
        self._master = master = Master(cost, self._until)
        self._separator = separator = Separator(self.problem, self._until)
        self._company = Company(self.problem)
        with track("searching the cheapest pattern", 1.0) as advance:
            choice = self._relaxed_rounds(master, separator)
            if self.relative_gap > GUIDED and self.left > 0:
                self._offer_along(choice)
            advance(0.5)
            if self.problem.dense is not None and self.relative_gap > GUIDED:
                self._exchange()
            if self.problem.dense is not None and 0 < self.relative_gap < FAR and not self.is_done:
                master.close(self.price - master.bound)
                separator.close(master.open)
                Tree(self, master).run()
            if not (self.is_limited and self.relative_gap > FAR):
                self._integer_rounds(master, separator)
            self._break_tie(master)
            advance(0.5)

    def _break_tie(self, master: Master) -> None:
        """Look for a pattern of fewer cells at the same cost, if that is proven to be the least."""
        small = self.problem.dense is not None and not self.problem.singletons
        missing = self.price - self.bound
        if small and self.left > 0 and missing <= max(EVEN * self.price, self.step):
            self.is_fewest = Fewest(self, master).run()

    @property
    def is_limited(self) -> bool:
        """Whether work is limited, and so not worth spending where a proof is far."""
        return bool(np.isfinite(self.work)) and self.problem.dense is not None

    @property
    def price(self) -> float:
        """Cost of the best pattern so far."""
        return self.problem.price(self.best)

    @property
    def relative_gap(self) -> float:
        """How much cheaper a pattern could be at most, as a share of the best."""
        price = self.price
        return 0.0 if price <= 0 else max(price - self.bound, 0.0) / price

    @property
    def is_done(self) -> bool:
        """Whether no pattern can be cheaper by more than the gap asked for."""
        return self.is_enough(self.bound)

    def is_enough(self, bound: float) -> bool:
        """Whether no pattern is worth looking for among those that cost this much at least."""
        price = self.price
        missing = price - bound
        return price <= 0 or missing <= max(self.gap, EVEN) * price or missing < self.step

    @property
    def elapsed(self) -> float:
        """Seconds since the search was set up."""
        return time.monotonic() - self._started

    @property
    def left_on_clock(self) -> float:
        """Seconds that are left."""
        return self._until - time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left; none once the work is done that was allowed."""
        return 0.0 if self.spent >= self.work else self.left_on_clock

    @property
    def _half_left(self) -> bool:
        """Whether less than half of time and work are spent: the rest is for patterns."""
        return self.spent < self.work / 2 and self.elapsed < self.seconds / 2

    @property
    def spent(self) -> float:
        """Work of the programmes solved so far."""
        return self._master.work + self._separator.work + self.problem.work

    @cached_property
    def step(self) -> float:
        """Least difference of the costs of two patterns, with a margin for rounding."""
        cost = self.problem.cost[self.problem.candidates]
        return 1 - 1e-4 if len(cost) and np.all(cost == np.round(cost)) else 0.0

    # -- patterns -------------------------------------------------------------------------------

    def _learn(self, threats: list[Threat]) -> list[Threat]:
        """Remember threats; return them."""
        for threat in threats:
            self._threats.setdefault(threat.name, threat)
        return threats

    def _first(self) -> np.ndarray:
        """Return a first pattern that holds: grown, mended and thinned."""
        small = self.problem.dense is not None
        until = np.inf if small else self._until  # what is small takes no time
        if self.first is not None:
            return self._mended(self.best, None if small else np.zeros_like(self.best), until)
        if small and not self.problem.singletons:
            return self._first_of_small()
        fixed = self.problem.fixed
        pattern = self.problem.grown(fixed, self._threats.values(), until=until)
        return self._mended(pattern, None, until)

    def _first_of_small(self) -> np.ndarray:
        """Return the best of what grows from nothing, from given cells, and what both leave."""
        found, fixed = [], self.problem.fixed
        known = list(self._threats.values())
        for start, threats in ((fixed, known), (self.start, ())):
            try:
                if start is not None:
                    grown = self.problem.grown(fixed | start, threats)
                    found.append(self._mended(grown, None, np.inf))
            except ProtectionError:
                continue
        if not found:
            return self._from_everything()
        both = np.logical_or.reduce(found)
        return min((*found, self.problem.thinned(both, known)), key=self._rank)

    def _from_everything(self) -> np.ndarray:
        """Return what is left of all cells that may be suppressed; refuse if they do not help."""
        every = self._chosen(np.ones(len(self.problem.candidates), dtype=bool))
        if exposed := self.problem.threats(every):
            raise self.problem.refusal(np.array([threat.cell for threat in exposed]))
        return self.problem.thinned(every, self._threats.values())

    def _mended(self, pattern: np.ndarray, among: np.ndarray | None, until: float) -> np.ndarray:
        """Return a pattern that stands every threat, those of newly hidden respondents included."""
        while threats := self._learn(self.problem.threats(pattern, until)):
            before = pattern
            pattern = self.problem.grown(before, threats, until=until)
            if np.array_equal(pattern, before):  # to the attack too narrow by a hair: no cell helps
                raise self.problem.refusal(np.unique([threat.cell for threat in threats]))
        if among is not None and not (among & pattern).any():
            return pattern
        thin = self.problem.thinned(pattern, self._threats.values(), among, self._until)
        try:
            # Publishing a cell can only help its own respondents' neighbours; still, look again.
            return pattern if self._learn(self.problem.threats(thin, until)) else thin
        except UnsolvedError:
            return pattern

    def _offer_along(self, choice: np.ndarray) -> None:
        """Offer a pattern along the choice of the relaxed master."""
        dense = self.problem.dense
        if dense is None or self.problem.singletons:
            self._offer_grown(self.problem.fixed, self._along(choice))
            return
        self._offer_thinned(choice)
        if GUIDED < self.relative_gap < (CLOSE if self.is_limited else 1.0):
            self._offer_grown(self.problem.fixed, self._along(choice))

    def _offer_thinned(self, choice: np.ndarray) -> None:
        """Offer what a choice leaves of its own cells and those of the best pattern."""
        dense = self.problem.dense
        if dense is not None and not self.problem.singletons:
            wide = self.best | self._chosen(choice > GLIMMER)
            known = list(self._threats.values())
            self._offer(dense.thinned(wide, known, cost=self._along(choice)))

    def _offer_grown(self, pattern: np.ndarray, cost: np.ndarray | None = None) -> None:
        """Let a pattern grow until it stands every threat, and take it if it is the best so far."""
        if self.problem.dense is not None and not self.problem.singletons:
            known = self._threats.values()
            thin = self.problem.thinned(self.best | pattern, known, ~pattern)
            self._offer(self.problem.thinned(thin, known))
        try:
            threats = self._threats.values() if cost is not None else ()
            grown = self.problem.grown(pattern, threats, cost, self._until)
            self._offer(self._mended(grown, ~pattern, self._until))
        except ProtectionError:
            return  # respondents newly hidden cannot be withstood, or time is over: no offer

    def _exchange(self) -> None:
        """Do without one cell of the best pattern after the other, dearest first, if that gains."""
        extra = np.flatnonzero(self.best & ~self.problem.fixed)
        for cell in extra[np.argsort(-self.problem.cost[extra], kind="stable")]:
            worth = self.problem.cost[cell] > self.gap * self.price
            if worth and self.best[cell] and self.left > 0 and not self.is_done:
                trial = self.best.copy()
                trial[cell] = False
                threats = self.problem.threats(trial, self._until)
                try:
                    grown = self.problem.grown(trial, threats, until=self._until, shut=(cell,))
                    self._offer(self._mended(grown, None, self._until))
                except ProtectionError:
                    continue

    def _offer(self, pattern: np.ndarray) -> None:
        """Take a pattern that is cheaper than the best so far, or has fewer cells at that price."""
        price, best = self.problem.price(pattern), self.price
        fewer = pattern.sum() < self.best.sum()
        if price < best * (1 - EVEN) or (fewer and price <= best * (1 + EVEN)):
            self.best = pattern

    def _rank(self, pattern: np.ndarray) -> tuple[float, int]:
        return self.problem.price(pattern), int(pattern.sum())

    def _chosen(self, choice: np.ndarray) -> np.ndarray:
        pattern = self.problem.fixed.copy()
        pattern[self.problem.candidates[choice]] = True
        return pattern

    # -- rounds ---------------------------------------------------------------------------------

    def _relaxed_rounds(self, master: Master, separator: Separator) -> np.ndarray:
        """Add cuts while they raise the bound of the relaxed master; return its last choice."""
        waiting = list(self._threats.values())
        bound, choice = -1.0, np.zeros(len(self.problem.candidates))
        while self._half_left:
            choice = self._in_company(master)
            self.raise_bound(master.bound)
            if GUIDED < self.relative_gap < CLOSE:
                self._offer_thinned(choice)
            self.n_rounds += 1
            every = len(waiting) == len(self._threats)
            if self.is_done or self._is_stalled(master.bound, bound, every):
                break
            bound = master.bound
            waiting = self._cut(master, separator, choice, waiting)
            if not waiting and self.problem.dense is not None:
                waiting = self._cut(master, separator, choice, list(self._threats.values()))
            if not waiting:
                break
        return choice

    def _is_stalled(self, bound: float, before: float, every: bool) -> bool:
        """Return whether a round raised the bound so little that the next is not worth it.

        Not if every threat gave cuts, unless work is limited and the proof far away.
        """
        rise = bound - before
        if self.is_limited and self.n_rounds > FEW and rise <= SLOW * (self.price - bound):
            return True
        return not every and rise <= STALL * max(abs(bound), 1e-12)

    def _cut(
        self, master: Master, separator: Separator, choice: np.ndarray, threats: list[Threat]
    ) -> list[Threat]:
        """Add the cuts that a choice misses; return the threats that gave some."""
        found = {t: separator.cuts(choice, [t]) for t in threats if self._half_left}
        master.add([cut for given in found.values() for cut in given])
        self.n_cuts = len(master.cuts)
        return [t for t, given in found.items() if given]

    def _along(self, choice: np.ndarray) -> np.ndarray:
        """Return costs under which what the relaxed master chooses costs little."""
        cost = self.problem.cost.copy()
        cost[self.problem.candidates] *= np.maximum(1.0 - choice, GLIMMER)
        return cost

    def _in_company(self, master: Master) -> np.ndarray:
        """Solve the relaxed master; return its choice, in which no cell is left alone."""
        choice = master.relaxed()
        while self.left > 0 and (cuts := self._company.cuts(choice)):
            master.add(cuts)
            choice = master.relaxed()
        return choice

    def _integer_rounds(self, master: Master, separator: Separator) -> None:
        """Solve integer masters; what still fails gives cuts, and after mending a pattern."""
        gap = COARSE
        while self.left > 0 and not self.is_done:
            master.relaxed()
            self.raise_bound(master.bound)
            master.close(self.price - master.bound)
            separator.close(master.open)
            self.n_rounds += 1
            start = self.best[self.problem.candidates]
            nodes = None if np.isinf(self.work) else NODES
            choice, bound = master.integer(start, self.left, max(gap, self.gap), nodes)
            self.raise_bound(min(bound, self.price))
            if choice is None or self.is_done:
                return
            pattern = self._chosen(choice)
            threats = self._learn(self.problem.threats(pattern, self._until))
            if not threats:
                self._offer(pattern)
                if gap <= self.gap:
                    return
                gap = gap / FINER if gap > FINE else self.gap
                continue
            self._cut_whole(choice, threats)
            if len(threats) <= NEARLY * len(self._threats) or self.n_rounds % 3 == 0:
                self._offer_grown(pattern)

    def cut_off(self, choice: np.ndarray) -> bool:
        """Add cuts that rule a choice (flags of candidates) out; if it holds, offer its pattern."""
        self.n_rounds += 1
        pattern = self._chosen(choice)
        threats = self._learn(self.problem.threats(pattern, self._until))
        if threats:
            self._cut_whole(choice, threats)
        else:
            self._offer(pattern)
        return bool(threats)

    def _cut_whole(self, choice: np.ndarray, threats: list[Threat]) -> None:
        """Add cuts that rule out a choice that does not stand some threats."""
        whole = choice.astype(float)
        # A pattern that fails by less than a glimmer must be cut off, too.
        cuts = self._separator.cuts(whole, threats) or self._separator.cuts(whole, threats, 0.0)
        # What does not hold needs a cell more, whatever it is.
        others = np.flatnonzero(~choice)
        cuts = cuts or [Cut(others, np.ones(len(others)))]
        self._master.add([*cuts, *self._company.cuts(whole)])
        self.n_cuts = len(self._master.cuts)

    def raise_bound(self, bound: float) -> None:
        """Note what no pattern can cost less than."""
        self.bound = max(self.bound, bound)
