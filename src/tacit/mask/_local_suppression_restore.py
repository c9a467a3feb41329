"""Give back values whose suppression turned out unnecessary (missing values read as wildcards).

Later choices of the greedy search protect records that earlier ones already paid for. A value can
be given back when its own record stays safe and no record that relied on the gap falls short.
Only records that were at risk in the original can: the others never needed anybody's gap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.mask import _local_suppression_restore_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd, columns_of, patterns_of

AtRisk = Sequence[tuple[Sequence[int], np.ndarray]]
"""For each combination its columns and the rows that violate it."""

_BUDGET = 2_000_000_000
"""Comparisons spent on giving values back; what is left then stays suppressed, which is safe."""
_STEP = 50_000_000
"""Comparisons between two chances to interrupt."""
_TABLE_COST = 30
"""Comparisons that take as long as one entry in a table."""


class Restoration:
    """Give values back one at a time, never leaving a record with fewer than k.

    Parameters
    ----------
    codes
        Original codes, one row per record or group of equal records.
    n_records
        How many records each row stands for; one where it is at risk.
    blank
        Rows by columns: which values were suppressed.
    at_risk
        For each combination its columns and the rows that violated it in the original.
    k
        Smallest number of records that may equal a record.
    costs
        Cost of blanking a value of each column; the dearest are given back first.
    """

    def __init__(
        self,
        codes: np.ndarray,
        n_records: np.ndarray,
        blank: np.ndarray,
        at_risk: AtRisk,
        k: int,
        costs: np.ndarray,
    ) -> None:
        self.k, self.costs, self.n_columns = k, costs, codes.shape[1]
        self.crowd = Crowd.of(codes, n_records)
        records = np.flatnonzero(blank.any(axis=1))
        self.records = records[np.argsort(self.crowd.row_of[records], kind="stable")]
        rows = self.crowd.row_of[self.records]
        self.crowd.touch(rows, patterns_of(blank[self.records]))
        self.people = kernel.People(
            self.crowd.rows, self.crowd.missing, self.crowd.counts, rows, self.crowd.touched_blanks
        )
        self.units = self._units(at_risk)

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the touched records and the pattern of what each still loses."""
        touched, columns = self._candidates()
        budget, gained = _BUDGET, True
        while gained and budget > 0:
            gained = False
            outcomes = []
            for part in self._parts(len(touched), budget):
                outcome = kernel.give_back(
                    self.people, self.units, touched[part], columns[part], self.k
                )
                gained |= bool((outcome > 0).any())
                budget -= len(outcome) * self._per_value
                outcomes.append(outcome == 0)
            left = np.flatnonzero(np.concatenate([*outcomes, np.zeros(0, dtype=bool)]))
            touched, columns = touched[left], columns[left]
        return self.records, self.people.blanks

    @property
    def _per_value(self) -> int:
        """Comparisons that one value takes."""
        return len(self.crowd.rows) + len(self.records) + len(self.units.rows)

    def _parts(self, n_values: int, budget: int) -> list[slice]:
        step = max(1, _STEP // self._per_value)
        affordable = min(n_values, budget // self._per_value + 1)
        return [slice(i, min(i + step, affordable)) for i in range(0, affordable, step)]

    def _units(self, at_risk: AtRisk) -> kernel.Units:
        number = np.full(len(self.crowd.row_of), -1, dtype=np.int64)
        number[self.records] = np.arange(len(self.records))
        rows, touched, outside = [], [], []
        for columns, records in at_risk:
            mine = np.sort(number[records][number[records] >= 0])
            whole = np.unique(self.crowd.row_of[records[number[records] < 0]])
            rows.append(np.concatenate([whole, self.people.touched[mine]]))
            touched.append(np.concatenate([np.full(len(whole), -1), mine]))
            pattern = ((1 << self.n_columns) - 1) & ~sum(1 << j for j in columns)
            outside.append(np.full(len(rows[-1]), pattern, dtype=np.int64))
        of_touched = np.concatenate(touched)
        order = np.argsort(of_touched, kind="stable")
        starts = np.searchsorted(of_touched[order], np.arange(len(self.records) + 1))
        all_rows, all_outside = np.concatenate(rows), np.concatenate(outside)
        free = self.crowd.missing[all_rows] | all_outside
        free[of_touched >= 0] |= self.people.blanks[of_touched[of_touched >= 0]]
        counts = self.crowd.compatible(all_rows, free)
        return kernel.Units(all_rows, of_touched, all_outside, counts, order, starts)

    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """List the suppressed values (touched record, column), the most important ones first."""
        touched, columns = np.nonzero(columns_of(self.people.blanks, self.n_columns))
        order = np.argsort(-self.costs[columns], kind="stable")
        touched, columns = touched[order], columns[order]
        hopeful = self._hopeful(touched, columns)
        return touched[hopeful], columns[hopeful]

    def _hopeful(self, touched: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Whether each value's record would be safe with it, where tables tell that cheaply.

        They do with one combination and few patterns; otherwise all values are worth a look.
        """
        bit = np.int64(1) << columns
        rows = self.people.touched[touched]
        free = self.crowd.missing[rows] | (self.people.blanks[touched] & ~bit)
        outside = np.unique(self.units.outside)
        n_patterns = len(np.unique(free))
        if len(outside) != 1 or n_patterns * _TABLE_COST > len(touched):
            return np.ones(len(touched), dtype=bool)
        return self.crowd.compatible(rows, free | outside[0]) >= self.k
