"""Search of the lattice: optimal with pruning, or greedy where it is too large."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np

from tacit.core.progress import track
from tacit.mask._generalise_lattice import Check, Lattice, Levels

_TINY = 1e-12
_MOST_AXES = 60


class Bounds:
    """Lowest and highest level of each key."""

    def __init__(self, low: Levels, high: Levels) -> None:
        self.low, self.high = low, high

    @property
    def shape(self) -> Levels:
        """Number of levels of each key."""
        return tuple(b - a + 1 for a, b in zip(self.low, self.high, strict=True))

    @property
    def n_combinations(self) -> int:
        """Size of the lattice."""
        return prod(self.shape)

    def neighbours(self, levels: Levels, step: int) -> Iterator[Levels]:
        """Yield the combinations with one key one step coarser (1) or finer (-1)."""
        for j, level in enumerate(levels):
            if self.low[j] <= level + step <= self.high[j]:
                yield (*levels[:j], level + step, *levels[j + 1 :])


def fits_optimal_search(bounds: Bounds, most_combinations: int) -> bool:
    """Whether the lattice is small enough to be searched to the end."""
    return bounds.n_combinations <= most_combinations and len(bounds.low) <= _MOST_AXES


# -- optimal --------------------------------------------------------------------------------------


class _OptimalSearch:
    """Best-first search with predictive tagging.

    Three facts spare most of the counting. The loss without suppression bounds the loss from below
    and is a sum over keys, known for all combinations at once. A combination in which too many
    classes are too small rules out all finer ones. And what it suppresses, every finer one
    suppresses too, which lifts their bounds.
    """

    def __init__(self, lattice: Lattice, bounds: Bounds) -> None:
        self.lattice, self.bounds = lattice, bounds
        self.best: Check | None = None
        self.is_open = np.ones(bounds.shape, dtype=bool)
        self.floor = self._floors(np.zeros(len(bounds.low)), bounds.high)
        for j, other in combinations(range(len(bounds.low)), 2):
            self._close_by_two_keys(j, other)

    def _close_by_two_keys(self, j: int, other: int) -> None:
        """Rule out the combinations in which two keys alone make too many classes too small."""
        too_few = self.lattice.n_too_few(j, other)
        if too_few is None:
            return
        low, high = self.bounds.low, self.bounds.high
        here = too_few[low[j] : high[j] + 1, low[other] : high[other] + 1]
        shape = [n if axis in (j, other) else 1 for axis, n in enumerate(self.bounds.shape)]
        self.is_open &= (here <= self.lattice.max_suppressed).reshape(shape)

    def run(self) -> Check | None:
        """Return the best combination that meets the conditions."""
        order = np.argsort(self.floor, axis=None, kind="stable")
        first_floor = self.floor.ravel()[order]
        is_open = self.is_open.ravel()  # a view: tagging shows here
        done = 0
        with track("searching generalisations", len(order)) as advance:
            for position, flat in enumerate(order.tolist()):
                if not is_open[flat]:
                    continue
                if first_floor[position] >= self._limit:
                    break
                advance(position - done)
                done = position
                place = tuple(int(i) for i in np.unravel_index(flat, self.is_open.shape))
                while self._is_worth(place):
                    self._climb(place)
            advance(len(order) - done)
        return self.best

    @property
    def _limit(self) -> float:
        return np.inf if self.best is None else self.best.total - _TINY

    def _is_worth(self, place: Levels) -> bool:
        return bool(self.is_open[place]) and bool(self.floor[place] < self._limit)

    def _climb(self, start: Levels) -> None:
        """Find by bisection where a path from here upwards begins to meet the conditions."""
        path = self._path(start)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if not self._is_worth(path[middle]):
                high = middle - 1
                continue
            if self._visit(path[middle]).rules_out_finer:
                low = middle + 1
            else:
                high = middle - 1

    def _path(self, start: Levels) -> list[Levels]:
        """Go up by the cheapest step each time, as long as it may pay."""
        path, place = [start], start
        while True:
            steps = [p for p in self._coarser(place) if self._is_worth(p)]
            if not steps:
                return path
            place = min(steps, key=lambda p: (self.floor[p], p))
            path.append(place)

    def _coarser(self, place: Levels) -> Iterator[Levels]:
        for j, level in enumerate(place):
            if level + 1 < self.is_open.shape[j]:
                yield (*place[:j], level + 1, *place[j + 1 :])

    def _visit(self, place: Levels) -> Check:
        check = self.lattice.check(tuple(np.add(self.bounds.low, place).tolist()))
        self.is_open[place] = False
        finer = tuple(slice(0, level + 1) for level in place)
        if check.rules_out_finer:
            self.is_open[finer] = False
            return check
        if check.is_met and check.total < self._limit:
            self.best = check
        self._lift(check, place, finer)
        return check

    def _lift(self, check: Check, place: Levels, finer: tuple[slice, ...]) -> None:
        """Raise the bounds of the combinations that this one speaks of."""
        if check.floor_above > 0:
            coarser = tuple(slice(level, None) for level in place)
            np.maximum(self.floor[coarser], check.floor_above, out=self.floor[coarser])
        elif self.lattice.objective.feels_suppression and check.lasting_excess is not None:
            lifted = self._floors(check.lasting_excess, check.levels)
            np.maximum(self.floor[finer], lifted, out=self.floor[finer])

    def _floors(self, excess: np.ndarray, top: Levels) -> np.ndarray:
        """Bound all combinations up to `top`, given what each key loses to suppression at least."""
        objective, low = self.lattice.objective, self.bounds.low
        shape = tuple(b - a + 1 for a, b in zip(low, top, strict=True))
        floor = np.zeros(shape)
        if not objective.is_per_key:
            return floor
        for j, means in enumerate(self.lattice.means):
            terms = objective.terms(j, means[low[j] : top[j] + 1] + excess[j])
            floor += terms.reshape([-1 if axis == j else 1 for axis in range(len(shape))])
        return floor


def optimal(lattice: Lattice, bounds: Bounds) -> Check | None:
    """Return the combination of least loss that meets the conditions, or None if none does."""
    return _OptimalSearch(lattice, bounds).run()


# -- greedy ---------------------------------------------------------------------------------------


class _GreedySearch:
    """Climb from the finest combination until the conditions hold, then improve step by step.

    The coarsest combination is improved too, and the better end is taken.
    """

    def __init__(self, lattice: Lattice, bounds: Bounds) -> None:
        self.lattice, self.bounds = lattice, bounds
        self.known: dict[Levels, Check] = {}

    def run(self) -> Check | None:
        """Return the best combination met on the way."""
        with track("searching generalisations") as advance:
            top = self._check(self.bounds.high)
            ends = [self._climbed(), top if top.is_met else None]
            found = [self._improved(check) for check in ends if check is not None]
            advance(1)
        return min(found, key=lambda check: check.total, default=None)

    def _check(self, levels: Levels) -> Check:
        if levels not in self.known:
            self.known[levels] = self.lattice.check(levels)
        return self.known[levels]

    def _climbed(self) -> Check | None:
        """Coarsen the key that saves most suppressions for its loss until the conditions hold."""
        check = self._check(self.bounds.low)
        while not check.is_met:
            steps = [self._check(p) for p in self.bounds.neighbours(check.levels, 1)]
            if not steps:
                return None
            check = max(steps, key=lambda step: self._gain(check, step))
        return check

    def _gain(self, here: Check, step: Check) -> float:
        saved = here.n_suppressed - step.n_suppressed + 1e-3
        return saved / max(self._bare(step.levels) - self._bare(here.levels), _TINY)

    def _bare(self, levels: Levels) -> float:
        """Sum of the losses per key without suppression; levels where the measure has none."""
        objective = self.lattice.objective
        if not objective.is_per_key:
            return float(sum(levels))
        means = self.lattice.means
        return float(sum(objective.terms(j, means[j][level]) for j, level in enumerate(levels)))

    def _improved(self, check: Check) -> Check:
        """Move to the best neighbour as long as one is better; try exchanges where none is."""
        while True:
            one_step = [*self.bounds.neighbours(check.levels, 1),
                        *self.bounds.neighbours(check.levels, -1)]  # fmt: skip
            better = self._best_of(one_step, check) or self._best_of(self._exchanges(check), check)
            if better is None:
                return check
            check = better

    def _exchanges(self, check: Check) -> list[Levels]:
        """Return the combinations with one key coarser and another finer that may be better."""
        return [
            levels
            for coarser in self.bounds.neighbours(check.levels, 1)
            for levels in self.bounds.neighbours(coarser, -1)
            if levels != check.levels and not self._cannot_beat(levels, check)
        ]

    def _cannot_beat(self, levels: Levels, check: Check) -> bool:
        return self.lattice.objective.is_per_key and self._bare(levels) >= check.total

    def _best_of(self, candidates: list[Levels], check: Check) -> Check | None:
        met = [step for step in map(self._check, candidates) if step.is_met]
        best = min(met, key=lambda step: step.total, default=check)
        return best if best.total < check.total - _TINY else None


def greedy(lattice: Lattice, bounds: Bounds) -> Check | None:
    """Return a good combination that meets the conditions, or None if none was found."""
    return _GreedySearch(lattice, bounds).run()
