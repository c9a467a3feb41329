"""The order in which M3A moves cells, and the variant that keeps the totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._free_leaves import Leaves, leaves_of
from tacit.tables._precision import Steps
from tacit.tables.adjust._in_steps import in_steps
from tacit.tables.adjust._m3a_nearness import Nearness
from tacit.tables.adjust._m3a_safe_set import SafeSet
from tacit.tables.adjust._nearest import Adjustment
from tacit.tables.table import Table

_ROUNDS = 20
"""How often all moved cells are tried at their other limit."""
_CANDIDATES = 100
"""How many cells below an unsafe sum are tried."""


class Staged:
    """Move leaf cells one by one; the sums above them follow."""

    def __init__(self, table: Table, sets: Mapping[int, SafeSet], balance: bool = False) -> None:
        self.table, self.sets, self.balance = table, sets, balance
        self.steps = Steps.of(table)
        self.value = table.value.astype(float).copy()
        self._leaves = leaves_of(table, "M3A", "keep the totals, which any relations allow")
        self._above = _sums_above(self._leaves)

    def published(self, unsafe: np.ndarray) -> np.ndarray:
        """Return the published values: several respondents first, then single ones, then sums."""
        leaves = unsafe[~self.table.is_total[unsafe]]
        units = self.table.respondents.n_units if self.table.respondents is not None else None
        single = np.zeros(len(leaves), bool) if units is None else units[leaves] == 1
        for cell in leaves[~single]:
            self._move(cell, self._best(cell, lambda c, total: abs(total - self.table.value[c])))
        for cell in leaves[single]:
            # Both limits are as near to the original; the sums above decide.
            self._move(cell, self._best(cell, self._loss))
        self._mend_sums()
        if self.balance:
            self._balance(leaves)
        # Once more from the original: cells moved back and forth leave rounding errors in sums.
        at = self._leaves.at
        moved = self.value[at] - self.table.value[at]
        published = np.asarray(self.table.value + self._leaves.sums @ moved)
        return published if self.steps is None else self.steps.beside(self.table.value, published)

    def _best(self, cell: int, loss: Callable[[int, float], float]) -> float:
        """Return the safe limit that leaves the fewest sums above unsafe, then the least loss."""
        choices = self.sets[int(cell)].nearest(self.table.value[cell])
        return min(choices, key=lambda total: (self._unsafe_above(cell, total), loss(cell, total)))

    def _unsafe_above(self, cell: int, total: float) -> int:
        change = total - self.value[cell]
        return sum(
            not self.sets[c].holds(self.value[c] + change)
            for c in map(int, self._above[cell])
            if c in self.sets
        )

    def _move(self, cell: int, total: float) -> None:
        change = total - self.value[cell]
        self.value[cell] = total
        self.value[self._above[cell]] += change

    def _loss(self, cell: int, total: float) -> float:
        """Return how far the sums above a cell would be from the original."""
        above = self._above[cell]
        change = total - self.value[cell]
        return float(np.abs(self.value[above] + change - self.table.value[above]).sum())

    def _balance(self, leaves: np.ndarray) -> None:
        """Move cells to their other limit while the whole table gets nearer to the original."""
        choices = {int(c): self.sets[int(c)].nearest(self.table.value[c]) for c in leaves}
        nearness = Nearness(self.table, self._leaves.at, self.value)
        for _ in range(_ROUNDS):
            improved = False
            for cell, limits in choices.items():
                for other in limits:
                    above = self._above[cell]
                    if other == self.value[cell] or not nearness.gains(cell, other, above):
                        continue
                    if not self._unsafe_above(cell, other):
                        nearness.accept()
                        self._move(cell, other)
                        improved = True
            if not improved:
                return

    # -- sums that are sensitive themselves -------------------------------------------------------

    def _mend_sums(self) -> None:
        """Move a leaf further where a sum above it is sensitive and now unsafe."""
        wrong = [c for c, s in self.sets.items() if not s.holds(self.value[c])]
        # From below: a sum that a move makes safe often makes those above it safe.
        for cell in sorted(wrong, key=lambda c: self._n_leaves(c)):
            if not self.sets[cell].holds(self.value[cell]):
                self._mend(cell)

    def _n_leaves(self, total: int) -> int:
        return int(np.diff(self._leaves.sums.indptr[total : total + 2])[0])

    def _mend(self, total: int) -> None:
        """Make one unsafe sum safe by the least move of one leaf below it that harms no other."""
        sums = self._leaves.sums
        below = self._leaves.at[sums.indices[sums.indptr[total] : sums.indptr[total + 1]]]
        free = ~self.table.flags("frozen")[below] & (self.table.value[below] != 0)
        # Cells that have moved anyway first; then the largest, which a move changes least.
        order = sorted(below[free], key=lambda c: (c not in self.sets, -abs(self.table.value[c])))
        found = [
            (int(leaf) not in self.sets, abs(shift), int(leaf), shift)
            for leaf in order[:_CANDIDATES]
            for shift in (self._least_shift(int(leaf), side) for side in (-1, 1))
            if shift is not None
        ]
        if found:
            *_, leaf, shift = min(found)
            self._move(leaf, self.value[leaf] + shift)

    def _least_shift(self, leaf: int, side: int) -> float | None:
        """Return the least change to one side with which a leaf and all sums above it are safe."""
        cells = [c for c in (leaf, *map(int, self._above[leaf])) if c in self.sets]
        least = -np.inf if self.table.value[leaf] < 0 else -self.value[leaf]
        shift, settled = 0.0, False
        while not settled:
            settled = True
            for cell in cells:
                wanted = self.sets[cell].next(self.value[cell] + shift, side)
                if wanted is None:
                    return None
                if wanted != self.value[cell] + shift:
                    shift, settled = wanted - self.value[cell], False
        return shift if shift >= least else None


def _sums_above(leaves: Leaves) -> dict[int, np.ndarray]:
    """Return for each leaf cell the sums it is part of."""
    by_leaf = leaves.sums.tocsc()
    parts = np.split(by_leaf.indices, by_leaf.indptr[1:-1])
    return {int(cell): part[part != cell] for cell, part in zip(leaves.at, parts, strict=True)}


def with_totals_kept(
    table: Table, sets: Mapping[int, SafeSet], unsafe: np.ndarray, seconds: float
) -> np.ndarray:
    """Return the nearest table with the original sums whose unsafe cells are at a safe limit."""
    sums = unsafe[table.is_total[unsafe]]
    if len(sums):
        raise ProtectionError(
            "sums that give respondents away cannot keep their original values",
            got=table.describe(sums),
            do="let the totals change, or merge categories",
        )
    lower, upper = table.bounds
    kept = table.is_total | (table.is_empty & (table.value == 0))
    kept = kept if table.frozen is None else kept | table.frozen
    low = np.where(kept, 0.0, lower - table.value)
    high = np.where(kept, 0.0, upper - table.value)
    for cell, limits in sets.items():
        # A sensitive cell that is safe stays; an unsafe one goes exactly to one of its limits.
        choices = np.array(limits.nearest(table.value[cell])) - table.value[cell]
        low[cell], high[cell] = choices.min(), choices.max()
    down = np.maximum(-low[unsafe], 0.0)
    up = np.maximum(high[unsafe], 0.0)
    low[unsafe] -= 1e-6 * np.maximum(1.0, down)
    high[unsafe] += 1e-6 * np.maximum(1.0, up)
    problem = Adjustment(
        table.relations, table.value, low, high, np.ones(table.n_cells), unsafe, down, up,
        seconds=seconds,
    )  # fmt: skip
    found = problem.start() or problem.solve(np.ones(len(unsafe), bool), None, problem.left)
    if found is None:
        raise ProtectionError(
            "the original totals leave no safe values for the unsafe cells",
            got=table.describe(unsafe),
            do="let the totals change",
        )
    change, rises, *_ = problem.improve((*found[:3], False), 150, np.random.default_rng(0))
    steps = Steps.of(table)
    if steps is None:
        return np.asarray(table.value + change)
    # The unsafe cells stand at their limit on the side that was found; the rest makes up for it.
    low, high = steps.up(table.value + low), steps.down(table.value + high)
    low[unsafe] = high[unsafe] = steps.rounded(table.value[unsafe] + np.where(rises, up, -down))
    return in_steps(table, table.value + change, low, high, steps, problem.left)
