"""The order in which M3A moves cells, and the variant that keeps the totals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.core.errors import DataError, ProtectionError
from tacit.tables.adjust._m3a_safe_set import SafeSet
from tacit.tables.adjust._nearest import Adjustment
from tacit.tables.table import Table


class Staged:
    """Move leaf cells one by one; the sums above them follow."""

    def __init__(self, table: Table, sets: Mapping[int, SafeSet]) -> None:
        self.table, self.sets = table, sets
        self.value = table.value.astype(float).copy()
        self._above = _sums_above(table)

    def published(self, unsafe: np.ndarray) -> np.ndarray:
        """Return the published values: several respondents first, then single ones, then sums."""
        leaves = unsafe[~self.table.is_total[unsafe]]
        units = self.table.respondents.n_units if self.table.respondents is not None else None
        single = np.zeros(len(leaves), bool) if units is None else units[leaves] == 1
        for cell in leaves[~single]:
            # The limit nearest to the original; both are as near only by chance.
            self._move(cell, self.sets[int(cell)].nearest(self.table.value[cell])[0])
        for cell in leaves[single]:
            choices = self.sets[int(cell)].nearest(self.table.value[cell])
            self._move(cell, min(choices, key=lambda total: self._loss(cell, total)))
        self._mend_sums()
        return self.value

    def _move(self, cell: int, total: float) -> None:
        change = total - self.value[cell]
        self.value[cell] = total
        self.value[self._above[cell]] += change

    def _loss(self, cell: int, total: float) -> float:
        """Return how far the sums above a cell would be from the original."""
        above = self._above[cell]
        change = total - self.value[cell]
        return float(np.abs(self.value[above] + change - self.table.value[above]).sum())

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
            for leaf in sorted(leaves, key=lambda c: -abs(self.table.value[c])):
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
