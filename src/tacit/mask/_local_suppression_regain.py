"""Give back values whose suppression is unnecessary where missing is a value of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacit.mask import _local_suppression_regain_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd, columns_of, patterns_of
from tacit.mask._local_suppression_kernel import empty_slots

_MOST_CLASSES = 40_000_000
"""Above this the values stay suppressed: the table of classes would not fit in memory."""
_SPARE_CLASSES = 1_000_000
"""Room for classes that records might come back to; when it is used up, the rest stays as is."""
_STEP = 20_000
"""Groups of records between two chances to interrupt."""


class Regain:
    """Give values back to groups of records, and to single ones, while all classes stay whole.

    Parameters
    ----------
    codes
        Original codes, records by columns.
    blank
        Records by columns: which values were suppressed.
    combinations
        Columns of each combination.
    k
        Smallest number of records in a class.
    costs
        Cost of blanking a value of each column; the dearest are given back first.
    """

    def __init__(
        self,
        codes: np.ndarray,
        blank: np.ndarray,
        combinations: Sequence[Sequence[int]],
        k: int,
        costs: np.ndarray,
    ) -> None:
        self.k, self.costs = k, costs
        patterns = [sum(1 << j for j in columns) for columns in combinations]
        self.combinations = np.array(patterns, dtype=np.int64)
        self.crowd = Crowd.of(codes)
        records = np.flatnonzero(blank.any(axis=1))
        self.records = records[np.argsort(self.crowd.row_of[records], kind="stable")]
        self.rows = self.crowd.row_of[self.records]
        self.blanks = patterns_of(blank[self.records])
        self.crowd.touch(self.rows, self.blanks)

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the touched records and the pattern of what each still loses."""
        filled = (len(self.crowd.rows) + len(self.rows)) * len(self.combinations)
        if filled > _MOST_CLASSES:
            return self.records, self.blanks
        classes = self._classes(2 * filled + _SPARE_CLASSES)
        gained = 1
        while gained:
            gained = 0
            for groups, starts, columns in self._proposals():
                gained += kernel.give_back(
                    self.crowd.rows, classes, self.rows, self.blanks,
                    groups, starts, columns, self.combinations, self.k,
                )  # fmt: skip
        return self.records, self.blanks

    def _classes(self, room: int) -> kernel.Classes:
        classes = kernel.Classes(
            slots=empty_slots(room),
            combination=np.empty(room, dtype=np.int32),
            row=np.empty(room, dtype=np.int32),
            pattern=np.empty(room, dtype=np.int64),
            held=np.zeros(room, dtype=np.int64),
            size=np.zeros(1, dtype=np.int64),
        )
        live = np.flatnonzero(self.crowd.counts)
        items = np.concatenate([live, self.rows]).astype(np.int32)
        patterns = np.concatenate([np.zeros(len(live), dtype=np.int64), self.blanks])
        counts = np.concatenate([self.crowd.counts[live], np.ones(len(self.rows), dtype=np.int64)])
        kernel.fill(self.crowd.rows, classes, items, patterns, counts, self.combinations)
        return classes

    def _proposals(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield groups of touched records with the columns that each group might get back.

        First whole classes of records that lost the same, then single records; all that was lost
        first, then one column after the other, the most important one first.
        """
        one_by_one = [np.int64(1) << j for j in np.argsort(-self.costs, kind="stable")]
        for together in (True, False):
            for column in (None, *one_by_one):
                groups, starts, columns = self._groups(together, column)
                for g in range(0, len(columns), _STEP):
                    yield groups, starts[g : g + _STEP + 1], columns[g : g + _STEP]

    def _groups(
        self, together: bool, column: np.int64 | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        having = np.flatnonzero(self.blanks if column is None else self.blanks & column)
        if together:
            having, starts = self._classmates(having)
        else:
            starts = np.arange(len(having) + 1)
        first = having[starts[:-1]]
        columns = self.blanks[first] if column is None else np.full(len(first), column)
        return having, starts, columns

    def _classmates(self, having: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sort touched records by their key as it is now, and say where each key starts."""
        blank = columns_of(self.blanks[having], self.crowd.rows.shape[1])
        keys = np.where(blank, -1, self.crowd.rows[self.rows[having]])
        order = np.lexsort((*keys.T[::-1], self.blanks[having]))
        keys, blanks = keys[order], self.blanks[having][order]
        new = (np.diff(keys, axis=0, prepend=-9) != 0).any(axis=1)
        new |= np.diff(blanks, prepend=-9) != 0
        return having[order], np.append(np.flatnonzero(new), len(having))
