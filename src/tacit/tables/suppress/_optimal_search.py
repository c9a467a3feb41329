"""The search: cuts until the relaxed master holds, then integer masters until a pattern holds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables.suppress._optimal_company import Company
from tacit.tables.suppress._optimal_cuts import GLIMMER, Separator
from tacit.tables.suppress._optimal_master import Master
from tacit.tables.suppress._optimal_problem import Problem, Threat

STALL = 2e-4
"""Relative gain of the bound in a round below which the relaxed master is left."""
NEARLY = 0.05
"""Share of threats still open at which the pattern of an integer master is worth mending."""
COARSE = 0.05
"""Relative gap at which integer masters stop at first: most of their patterns still fail."""
GUIDED = 0.05
"""Relative gap above which a pattern is grown along the relaxed master."""
NODES = 100
"""Nodes of an integer programme at most where work is limited."""
FINE = 1e-3
"""Relative gap below which the next one is that asked for."""


@dataclass(eq=False)
class Search:
    """Find a cheapest pattern that stands every threat; the best so far when time is over."""

    problem: Problem
    seconds: float
    gap: float
    first: np.ndarray | None = None
    """A pattern that another method found, to begin with."""
    work: float = np.inf
    """Work of programmes after which it ends, whatever the clock says."""
    best: np.ndarray = field(init=False)
    bound: float = 0.0
    n_rounds: int = 0
    n_cuts: int = 0

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._threats: dict[tuple[int, ...], Threat] = {}
        self.best = self.problem.fixed.copy()

    # -- outside --------------------------------------------------------------------------------

    def run(self) -> None:
        """Search until the gap is closed or time is over."""
        if not self._learn(self.problem.threats(self.problem.fixed)):
            return
        self.best = self._first()
        self._master = master = Master(self.problem.cost[self.problem.candidates])
        self._separator = separator = Separator(self.problem)
        self._company = Company(self.problem)
        with track("searching the cheapest pattern", 1.0) as advance:
            choice = self._relaxed_rounds(master, separator)
            if self.relative_gap > GUIDED and self.elapsed < self.seconds:
                self._offer_grown(self.problem.fixed, self._along(choice))
            advance(0.5)
            self._integer_rounds(master, separator)
            advance(0.5)

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
        return self.relative_gap <= max(self.gap, 1e-9) or self.price - self.bound < self._step

    @property
    def elapsed(self) -> float:
        """Seconds since the search was set up."""
        return time.monotonic() - self._started

    @property
    def _left(self) -> float:
        return 0.0 if self.spent >= self.work else self.seconds - self.elapsed

    @property
    def _half_left(self) -> bool:
        """Whether less than half of time and work are spent: the rest is for patterns."""
        return self.spent < self.work / 2 and self.elapsed < self.seconds / 2

    @property
    def spent(self) -> float:
        """Work of the programmes solved so far."""
        return self._master.work + self._separator.work

    @property
    def _step(self) -> float:
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
        if self.first is not None:
            return self._mended(self.first | self.problem.fixed, np.zeros_like(self.best))
        pattern = self.problem.grown(self.problem.fixed, self._threats.values())
        return self._mended(pattern, None)

    def _mended(
        self, pattern: np.ndarray, among: np.ndarray | None, until: float = np.inf
    ) -> np.ndarray:
        """Return a pattern that stands every threat, those of newly hidden respondents included."""
        while threats := self._learn(self.problem.threats(pattern)):
            pattern = self.problem.grown(pattern, threats, until=until)
        if among is not None and not (among & pattern).any():
            return pattern
        until = min(until, self._started + self.seconds)
        thin = self.problem.thinned(pattern, self._threats.values(), among, until)
        # Publishing a cell can only help its own respondents' neighbours; still, look again.
        return pattern if self._learn(self.problem.threats(thin)) else thin

    def _offer_grown(self, pattern: np.ndarray, cost: np.ndarray | None = None) -> None:
        """Let a pattern grow until it stands every threat, and take it if it is the best so far."""
        until = self._started + self.seconds
        try:
            threats = self._threats.values() if cost is not None else ()
            grown = self.problem.grown(pattern, threats, cost, until)
            self._offer(self._mended(grown, ~pattern, until))
        except ProtectionError:
            return  # respondents newly hidden cannot be withstood, or time is over: no offer

    def _offer(self, pattern: np.ndarray) -> None:
        """Take a pattern that is cheaper than the best so far, or has fewer cells at that price."""
        new, old = ((self.problem.price(one), one.sum()) for one in (pattern, self.best))
        if new < old:
            self.best = pattern

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
            self._raise(master.bound)
            self.n_rounds += 1
            stalled = master.bound - bound <= STALL * max(abs(master.bound), 1e-12)
            bound = master.bound
            if self.is_done or (stalled and len(waiting) < len(self._threats)):
                break
            found = {t: separator.cuts(choice, [t]) for t in waiting if self._half_left}
            cuts = [cut for given in found.values() for cut in given]
            waiting = [t for t, given in found.items() if given]
            master.add(cuts)
            self.n_cuts = len(master.cuts)
            if not cuts:
                break
        return choice

    def _along(self, choice: np.ndarray) -> np.ndarray:
        """Return costs under which what the relaxed master chooses costs little."""
        cost = self.problem.cost.copy()
        cost[self.problem.candidates] *= np.maximum(1.0 - choice, GLIMMER)
        return cost

    def _in_company(self, master: Master) -> np.ndarray:
        """Solve the relaxed master; return its choice, in which no cell is left alone."""
        choice = master.relaxed()
        while self._left > 0 and (cuts := self._company.cuts(choice)):
            master.add(cuts)
            choice = master.relaxed()
        return choice

    def _integer_rounds(self, master: Master, separator: Separator) -> None:
        """Solve integer masters; what still fails gives cuts, and after mending a pattern."""
        gap = COARSE
        while self._left > 0 and not self.is_done:
            master.relaxed()
            self._raise(master.bound)
            master.close(self.price - master.bound)
            separator.close(master.open)
            self.n_rounds += 1
            start = self.best[self.problem.candidates]
            nodes = None if np.isinf(self.work) else NODES
            choice, bound = master.integer(start, self._left, max(gap, self.gap), nodes)
            self._raise(min(bound, self.price))
            if choice is None or self.is_done:
                return
            pattern = self._chosen(choice)
            threats = self._learn(self.problem.threats(pattern))
            if not threats:
                self._offer(pattern)
                if gap <= self.gap:
                    return
                gap = gap / 4 if gap > FINE else self.gap
                continue
            whole = choice.astype(float)
            # A pattern that fails by less than a glimmer must be cut off, too.
            cuts = separator.cuts(whole, threats) or separator.cuts(whole, threats, 0.0)
            master.add([*cuts, *self._company.cuts(whole)])
            self.n_cuts = len(master.cuts)
            if len(threats) <= NEARLY * len(self._threats) or self.n_rounds % 3 == 0:
                self._offer_grown(pattern)

    def _raise(self, bound: float) -> None:
        self.bound = max(self.bound, bound)
