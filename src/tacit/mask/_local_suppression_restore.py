"""Give back values whose suppression turned out unnecessary (missing values read as wildcards).

Later choices of the greedy search protect records that earlier ones already paid for. A value can
be given back when its own record stays safe and no record that relied on the gap falls short.
Only records that were at risk in the original can: the others never needed anybody's gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.mask import _local_suppression_restore_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd, columns_of, patterns_of

_BUDGET = 1_000_000_000
"""Comparisons spent on giving values back; what is left then stays suppressed, which is safe."""
_STEP = 20_000_000
"""Comparisons between two chances to interrupt."""


@dataclass
class _Units:
    """A record at risk on one combination: what must stay safe."""

    rows: np.ndarray
    touched: np.ndarray
    """Number of the touched record, -1 where the record has lost nothing."""
    outside: np.ndarray
    """Pattern of the columns that do not belong to the combination."""
    counts: np.ndarray
    """Records that may equal it now."""


class Restoration:
    """Give values back one at a time, never leaving a record with fewer than k.

    Parameters
    ----------
    codes
        Original codes, records by columns.
    blank
        Records by columns: which values were suppressed.
    at_risk
        For each combination its columns and the records that violated it in the original.
    """

    def __init__(
        self,
        codes: np.ndarray,
        blank: np.ndarray,
        at_risk: Sequence[tuple[Sequence[int], np.ndarray]],
        k: int,
        costs: np.ndarray,
    ) -> None:
        self.k, self.costs, self.n_columns = k, costs, codes.shape[1]
        self.crowd = Crowd.of(codes)
        self.records = np.flatnonzero(blank.any(axis=1))
        rows = self.crowd.row_of[self.records]
        self.records = self.records[np.argsort(rows, kind="stable")]
        self.rows = self.crowd.row_of[self.records]
        self.blanks = patterns_of(blank[self.records])
        self.crowd.touch(self.rows, self.blanks)
        self.units = self._units(at_risk)

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the touched records and the pattern of what each still loses."""
        budget = _BUDGET
        while budget > 0:
            cells, static, starts = self._candidates()
            given_back, budget = self._give_back(cells, static, starts, budget)
            if not given_back:
                break
            self.crowd.touched_blanks = self.blanks
        return self.records, self.blanks

    def _units(self, at_risk: Sequence[tuple[Sequence[int], np.ndarray]]) -> _Units:
        number = np.full(len(self.crowd.row_of), -1, dtype=np.int64)
        number[self.records] = np.arange(len(self.records))
        rows, touched, outside = [], [], []
        for columns, records in at_risk:
            mine = number[records]
            still_whole = np.unique(self.crowd.row_of[records[mine < 0]])
            mine = np.sort(mine[mine >= 0])
            rows.append(np.concatenate([still_whole, self.rows[mine]]))
            touched.append(np.concatenate([np.full(len(still_whole), -1), mine]))
            pattern = ((1 << self.n_columns) - 1) & ~sum(1 << j for j in columns)
            outside.append(np.full(len(rows[-1]), pattern, dtype=np.int64))
        all_rows, all_touched = np.concatenate(rows), np.concatenate(touched)
        units = _Units(all_rows, all_touched, np.concatenate(outside), np.empty(0))
        units.counts = self.crowd.compatible(units.rows, self._patterns(units))
        return units

    def _patterns(self, units: _Units) -> np.ndarray:
        own = np.where(units.touched >= 0, self.blanks[units.touched], 0) if len(self.blanks) else 0
        return np.asarray(self.crowd.missing[units.rows] | units.outside | own)

    def _candidates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List values (touched record, column, unit) whose own record would stay safe.

        A value belongs to several units, one per combination that was violated; they lie
        together, those of value c at ``starts[c]:starts[c + 1]``. `static` counts the untouched
        records that may equal the unit once the value is back.
        """
        own_units = np.flatnonzero(self.units.touched >= 0)
        inside = columns_of(
            self.blanks[self.units.touched[own_units]] & ~self.units.outside[own_units],
            self.n_columns,
        )
        which, column = np.nonzero(inside)
        unit = own_units[which]
        touched = self.units.touched[unit]
        pattern = self._patterns(self.units)[unit] & ~(np.int64(1) << column)
        rows = self.units.rows[unit]
        hopeless = self.crowd.compatible(rows, pattern) < self.k
        cell = touched * self.n_columns + column
        kept = np.flatnonzero(~np.isin(cell, cell[hopeless]))
        # The most important values are given back first.
        kept = kept[np.lexsort((cell[kept], -self.costs[column[kept]]))]
        untouched = Crowd(
            self.crowd.rows, self.crowd.row_of, self.crowd.counts, self.crowd.missing
        )
        static = untouched.compatible(rows[kept], pattern[kept])
        starts = np.flatnonzero(np.diff(cell[kept], prepend=-1, append=-1))
        return np.column_stack([touched, column, unit])[kept], static, starts

    def _give_back(
        self, cells: np.ndarray, static: np.ndarray, starts: np.ndarray, budget: int
    ) -> tuple[int, int]:
        per_cell = max(1, len(self.units.rows) + len(self.rows))
        step = max(1, _STEP // per_cell)
        changed = np.zeros(len(self.rows), dtype=bool)
        units = self.units
        for begin in range(0, len(starts) - 1, step):
            if budget <= 0:
                break
            kernel.give_back(
                self.crowd.rows, self.crowd.missing, self.rows, self.blanks, changed,
                kernel.Units(units.rows, units.touched, units.outside, units.counts),
                cells, static, starts[begin : begin + step + 1], self.k,
            )  # fmt: skip
            budget -= step * per_cell
        return int(changed.sum()), budget
