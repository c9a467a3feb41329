"""Controlled rounding of large tables: a search over the finest cells, all others their sums."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from tacit.core.progress import track
from tacit.tables._free_leaves import Leaves
from tacit.tables.rounding._controlled_program import nearest_units
from tacit.tables.table import Table

_BLOCK = 400
"""How many finest cells are chosen anew at once by integer programming."""
_BLOCK_SECONDS = 5.0
_GAIN = 1e-3
"""Share of the distance that a pass must save for another one to follow."""
_LONGEST = 400
"""Passes over a missed sum look at so many of its finest cells at most."""
_PATIENCE = 4
"""Passes without fewer missed sums after which the search gives up."""


@dataclass
class LeafSearch:
    """Whole numbers at the finest cells, and the sums they make."""

    table: Table
    leaves: Leaves
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    deadline: float
    units: np.ndarray = field(init=False)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        by_leaf, by_cell = self.leaves.sums.tocsc(), self.leaves.sums.tocsr()
        self._by_leaf = (by_leaf.indptr.astype(np.int64), by_leaf.indices.astype(np.int64))
        self._by_cell = (by_cell.indptr.astype(np.int64), by_cell.indices.astype(np.int64))
        self.units = np.asarray(by_cell @ self._start(), dtype=float)

    def _start(self) -> np.ndarray:
        """Return the leaves rounded so that all sums of neighbours are nearly kept."""
        at = self.leaves.at
        carried = np.floor(np.cumsum(self.target[at] - np.floor(self.target[at])) + 0.5)
        rounded = np.floor(self.target[at]) + np.diff(carried, prepend=0.0)
        return np.asarray(np.clip(rounded, self.low[at], self.high[at]))

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.deadline - time.perf_counter()

    @property
    def missed(self) -> np.ndarray:
        """By how much each cell lies outside its bounds."""
        return np.asarray(
            np.maximum(np.maximum(self.low - self.units, self.units - self.high), 0.0)
        )

    @property
    def distance(self) -> float:
        """Sum of the distances from the target."""
        return float(np.abs(self.units - self.target).sum())

    def run(self) -> None:
        """Bring all sums between their bounds, then the whole nearer to the target."""
        self._mend()
        self._anneal()
        self._choose_blocks()

    def _links(self) -> tuple[np.ndarray, ...]:
        return (self.leaves.at.astype(np.int64), *self._by_leaf, *self._by_cell)

    def _mend(self) -> None:
        """Change leaves of missed sums one by one, for a fifth of the time at most."""
        from tacit.tables.rounding import _controlled_kernel as kernel

        missed = self.missed > 0
        listed = np.flatnonzero(missed)
        entries, place = np.zeros(len(missed), np.int64), np.full(len(missed), -1, np.int64)
        entries[: len(listed)], place[listed] = listed, np.arange(len(listed))
        weight, n_missed = np.ones(len(missed)), len(listed)
        changed, clock = np.zeros(len(self.leaves.at), np.int64), np.zeros(1, np.int64)
        state = np.array([88172645463325252], np.uint64)
        until = time.perf_counter() + self.left / 5
        fewest, idle = n_missed, 0
        while n_missed and idle < _PATIENCE and time.perf_counter() < until:
            n_missed = kernel.mend(
                self.units, *self._links(), self.low, self.high, self.target, weight,
                entries, place, n_missed, changed, clock, 50_000, _LONGEST, 0.05, state,
            )  # fmt: skip
            idle = 0 if n_missed < fewest else idle + 1
            fewest = min(fewest, n_missed)

    def _anneal(self) -> None:
        """Exchange units between leaves under falling heat, for a tenth of the time at most."""
        from tacit.tables.rounding import _controlled_kernel as kernel

        n_leaves = len(self.leaves.at)
        missed = bool(self.missed.any())
        # Sums all met are never given up again; while some are missed they gain weight by rounds.
        state = np.array([1442695040888963407], np.uint64)
        rounds, until = 40, time.perf_counter() + self.left / 10
        with track("rounding", rounds) as advance:
            for k in range(rounds):
                weight = np.full(len(self.units), 2.0 + 6.0 * k / rounds if missed else 1e6)
                heat = 1.0 * (0.02) ** (k / rounds)
                kernel.anneal(
                    self.units, *self._links(), self.low, self.high, self.target, weight,
                    heat, 10 * n_leaves, state,
                )  # fmt: skip
                advance(1)
                if time.perf_counter() > until:
                    break

    def _choose_blocks(self) -> None:
        """Choose neighbouring leaves anew by integer programming while that pays."""
        n_blocks = -(-len(self.leaves.at) // _BLOCK)
        idle = 0
        while idle < (_PATIENCE if self.missed.any() else 1) and self.left > 0:
            before = (self.missed.sum(), self.distance)
            for seed in self._seeds(n_blocks):
                if self.left <= 0:
                    return
                self._choose(seed)
            after = (self.missed.sum(), self.distance)
            better = after[0] < before[0] or after[1] < before[1] * (1 - _GAIN)
            idle = 0 if better else idle + 1

    def _seeds(self, n_blocks: int) -> np.ndarray:
        """Return leaves to begin with: of missed sums while there are any."""
        missed = np.flatnonzero(self.missed)
        first, members = self._by_cell
        if not len(missed):
            return self.rng.choice(len(self.leaves.at), n_blocks, replace=False)
        drawn = self.rng.choice(missed, min(n_blocks, len(missed)), replace=False)
        within = self.rng.random(len(drawn)) * (first[drawn + 1] - first[drawn])
        return np.asarray(members[first[drawn] + within.astype(np.int64)])

    def _choose(self, seed: int) -> None:
        chosen = self._near(seed)
        start, cells = self._by_leaf
        touched = np.unique(np.concatenate([cells[start[j] : start[j + 1]] for j in chosen]))
        units = nearest_units(
            self.table.relations, self.units, touched, self.target, self.low, self.high,
            min(self.left, _BLOCK_SECONDS),
        )  # fmt: skip
        if units is not None:
            self.units[touched] = units

    def _near(self, seed: int) -> np.ndarray:
        """Return the leaves that share most sums with one."""
        start, cells = self._by_leaf
        first, members = self._by_cell
        shared = np.concatenate(
            [members[first[c] : first[c + 1]] for c in cells[start[seed] : start[seed + 1]]]
        )
        times = np.bincount(shared, minlength=len(self.leaves.at)).astype(float)
        own = self.leaves.at
        times[self.low[own] == self.high[own]] = -1.0
        times += self.rng.random(len(times)) * 0.5
        return np.argsort(-times)[:_BLOCK]
