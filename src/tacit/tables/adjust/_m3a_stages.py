"""The order in which M3A moves cells, and the variant that keeps the totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tacit.core.errors import DataError, ProtectionError
from tacit.tables.adjust._m3a_safe_set import SafeSet
from tacit.tables.adjust._nearest import Adjustment
from tacit.tables.table import Table

_ROUNDS = 20
"""How often all moved cells are tried at their other limit."""


class Staged:
    """Move leaf cells one by one; the sums above them follow."""

    def __init__(self, table: Table, sets: Mapping[int, SafeSet], balance: bool = False) -> None:
        self.table, self.sets, self.balance = table, sets, balance
        self.value = table.value.astype(float).copy()
        self._above = _sums_above(table)
        self._inner = np.array(sorted(self._above), dtype=np.int64)

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
        return self.value

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
        for _ in range(_ROUNDS):
            improved = False
            for cell, limits in choices.items():
                best, now = self.value[cell], self._distance()
                for other in limits:
                    if other == self.value[cell] or self._unsafe_above(cell, other):
                        continue
                    before = self.value[cell]
                    self._move(cell, other)
                    if self._distance() < now - 1e-12:
                        best, now, improved = other, self._distance(), True
                    self._move(cell, before)
                self._move(cell, best)
            if not improved:
                return

    def _distance(self) -> float:
        """Return how far the table is from the original in spread, evenness and sums."""
        leaves, total = self._inner, self.table.is_total
        before, after = self.table.value[leaves], self.value[leaves]
        spread = abs(float((after**2).sum() / max((before**2).sum(), 1e-300)) - 1.0)
        even = abs(_evenness(after) / (_evenness(before) or 1.0) - 1.0)
        size = max(float(np.abs(self.table.value[total]).sum()), 1e-300)
        return spread + even + float(np.abs(self.value - self.table.value)[total].sum()) / size

    def _mend_sums(self) -> None:
        """Move a leaf further where a sum above it is sensitive and now unsafe."""
        for _ in range(len(self.sets) + 1):
            wrong = [c for c, s in self.sets.items() if not s.holds(self.value[c])]
            if not wrong:
                return
            if not any(self._mend(cell) for cell in wrong):
                return

    def _mend(self, total: int) -> bool:
        """Try to make one unsafe sum safe by moving one leaf below it; say whether it worked."""
        leaves = [c for c, above in self._above.items() if total in above]
        before = sum(not s.holds(self.value[c]) for c, s in self.sets.items())
        frozen = self.table.frozen
        for wanted in self.sets[total].nearest(self.value[total]):
            change = wanted - self.value[total]
            for leaf in sorted(
                leaves, key=lambda c: (c not in self.sets, -abs(self.table.value[c]))
            ):
                new = self.value[leaf] + change
                own = self.sets.get(leaf)
                if (frozen is not None and frozen[leaf]) or self.table.value[leaf] == 0:
                    continue
                if new < 0 <= self.table.value[leaf] or (own is not None and not own.holds(new)):
                    continue
                kept = self.value.copy()
                self._move(leaf, new)
                if sum(not s.holds(self.value[c]) for c, s in self.sets.items()) < before:
                    return True
                self.value = kept
        return False


def _evenness(value: np.ndarray) -> float:
    """Return the entropy of the shares of absolute values."""
    size = np.abs(value[value != 0])
    share = size / size.sum() if size.size else size
    return float(-(share * np.log(share)).sum())


def _sums_above(table: Table) -> dict[int, np.ndarray]:
    """Return for each leaf cell the sums it is part of."""
    if not table.dimensions or len(table.codes) != table.n_cells:
        raise DataError(
            "M3A adds sums up anew and so needs the dimensions of the table",
            do="keep the totals (keep_totals=True), which any relations allow",
        )
    holds = [d.contains.toarray().astype(bool) for d in table.dimensions]
    place = [{d.index[leaf]: j for j, leaf in enumerate(d.leaves)} for d in table.dimensions]
    above = {}
    for cell in np.flatnonzero(~table.is_total):
        inside = np.ones(table.n_cells, dtype=bool)
        for axis, contains in enumerate(holds):
            leaf = place[axis].get(int(table.codes[cell, axis]))
            if leaf is None:
                break
            inside &= contains[table.codes[:, axis], leaf]
        else:
            above[int(cell)] = np.flatnonzero(inside & (np.arange(table.n_cells) != cell))
    return above


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
    return np.asarray(
        table.value + problem.improve((*found[:3], False), 150, np.random.default_rng(0))[0]
    )
