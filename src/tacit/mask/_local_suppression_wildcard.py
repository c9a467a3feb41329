"""Local suppression where a missing value may be anything.

A record is safe when at least k records, itself among them, may equal it. Blanking a value never
takes a record away from anybody's count, so combinations can be treated one after another.
Each violator's cheapest protecting set of columns is found exactly (see `ColumnSets`); among equal
ones, and among violators, those go first that supply most of what other violators still lack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.core.progress import track
from tacit.mask import _local_suppression_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd, blank_out, columns_of
from tacit.mask._local_suppression_nearest import block_size, protect_by_nearest
from tacit.mask._local_suppression_restore import AtRisk, Restoration
from tacit.mask._local_suppression_sets import ColumnSets

_NO_LIMIT = 1 << 60
_WORK = 10_000_000
"""Sets times violators times patterns counted in one round."""
_TABLE_SECONDS, _COMPARISON_SECONDS = 1e-7, 6e-10
"""Rough cost of entering a row in a table, and of comparing two values."""
_WORTH_A_ROUND = 0.03
"""A batch is tried again while a round settles more than this share of the violators."""


def suppress(
    codes: np.ndarray,
    combinations: Sequence[Sequence[int]],
    k: int,
    costs: np.ndarray,
    exempt: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Return which values to blank for every combination of columns to be safe.

    With `exempt`, the records that it marks for a combination need no protection there; records
    with the same key have the same mark.
    """
    blank = np.zeros(codes.shape, dtype=bool)
    crowd = Crowd.of(codes)
    rare_rows = [violators(crowd.rows[:, columns], k, crowd.counts) for columns in combinations]
    if exempt is not None:
        pairs = zip(rare_rows, exempt, strict=True)
        rare_rows = [np.setdiff1d(found, crowd.row_of[marks]) for found, marks in pairs]
    risky = np.zeros(len(crowd.rows), dtype=bool)
    risky[np.concatenate(rare_rows)] = True
    if not risky.any():
        return blank
    # Only records at risk change: each gets a row of its own, the others stay grouped.
    records = np.flatnonzero(risky[crowd.row_of])
    records = records[np.argsort(crowd.row_of[records], kind="stable")]
    rows = np.concatenate([codes[records], crowd.rows[~risky]])
    counts = np.concatenate([np.ones(len(records), dtype=np.int64), crowd.counts[~risky]])
    at_risk = [
        (columns, np.flatnonzero(np.isin(crowd.row_of[records], found)))
        for columns, found in zip(combinations, rare_rows, strict=True)
    ]
    blank[records] = _suppress(rows, counts, at_risk, k, costs)[: len(records)]
    return blank


def _suppress(
    rows: np.ndarray, counts: np.ndarray, at_risk: AtRisk, k: int, costs: np.ndarray
) -> np.ndarray:
    """Blank values in rows that stand for one record or, where they are safe, for several.

    Combinations with most violators come first: what they blank often settles the others.
    """
    at_risk = sorted((r for r in at_risk if len(r[1])), key=lambda r: (-len(r[1]), list(r[0])))
    now = rows.copy()
    with track("local suppression", sum(len(found) for _, found in at_risk)) as advance:
        for columns, found in at_risk:
            search = WildcardSuppression(now[:, columns], counts, found, k, costs[columns])
            touched, blanks = search.run(advance)
            blank_out(now, touched, columns, blanks)
    touched, blanks = Restoration(rows, counts, now != rows, at_risk, k, costs).run()
    blank = np.zeros(rows.shape, dtype=bool)
    blank[touched] = columns_of(blanks, rows.shape[1])
    return blank


def violators(codes: np.ndarray, k: int, counts: np.ndarray) -> np.ndarray:
    """Return the rows of codes that fewer than `k` records may equal."""
    crowd = Crowd.of(codes, counts)
    return np.flatnonzero((_counts(crowd, k) < k)[crowd.row_of])


def _counts(crowd: Crowd, k: int) -> np.ndarray:
    """Count for each row the records that may equal it, exactly where its own are fewer than k."""
    counts = crowd.counts.copy()
    few = np.flatnonzero(counts < k)
    if (crowd.missing != 0).any():
        counts[few] = crowd.compatible(few, crowd.missing[few])
    return counts


class WildcardSuppression:
    """Blank few values so that every record is safe on one combination of columns.

    Parameters
    ----------
    codes
        Codes of the columns, one row per record or group of equal records, -1 for missing.
    n_records
        How many records each row stands for; one where it is at risk.
    at_risk
        The rows to protect, unless what others have lost protects them already.
    k
        Smallest number of records that may equal a record.
    costs
        Cost of blanking a value of each column; infinite for never.
    """

    def __init__(
        self,
        codes: np.ndarray,
        n_records: np.ndarray,
        at_risk: np.ndarray,
        k: int,
        costs: np.ndarray,
    ) -> None:
        self.crowd, self.k, self.costs = Crowd.of(codes, n_records), k, costs
        counts = _counts(self.crowd, k)
        found = at_risk[counts[self.crowd.row_of[at_risk]] < k]
        # The order of the file decides only between records with equal keys.
        self.records = found[np.argsort(self.crowd.row_of[found], kind="stable")]
        self.rows = self.crowd.row_of[self.records]
        self.short = k - counts[self.rows]
        self.blanks = np.zeros(len(found), dtype=np.int64)
        self._seconds = 0.0
        self.sets = ColumnSets(costs, len(self.crowd.rows) + len(found))

    def run(self, advance: Callable[[float], None]) -> tuple[np.ndarray, np.ndarray]:
        """Return the records that lose values and the pattern of what each loses."""
        for sets in self.sets.small():
            if not self.short.any() or self._is_dear(sets):
                break
            while self._round(sets, advance) > _WORTH_A_ROUND and self._most_patterns(sets) > 1:
                pass
        self._finish_by_nearest(advance)
        touched = self.blanks != 0
        return self.records[touched], self.blanks[touched]

    def _round(self, sets: np.ndarray, advance: Callable[[float], None]) -> float:
        """Protect violators with one batch of sets; return the share that is safe now."""
        active = np.flatnonzero(self.short)
        if not len(active):
            return 0.0
        options = self._options(active, np.append(np.int64(0), sets))
        if not options.protects.any():
            return 0.0
        chosen = self._choices(active, options)
        self._apply(active, options.sets[chosen])
        settled = len(active) - int(np.count_nonzero(self.short))
        advance(settled)
        return settled / len(active)

    def _is_dear(self, sets: np.ndarray) -> bool:
        """Whether trying sets has come to take longer than comparing records one by one."""
        active, (n_rows, n_columns) = int(np.count_nonzero(self.short)), self.crowd.rows.shape
        patterns = min(self.crowd.n_patterns, self._most_patterns(sets))
        self._seconds += _TABLE_SECONDS * len(sets) * (n_rows + active * patterns)
        block = min(n_rows, block_size(active, n_columns))
        one_by_one = _COMPARISON_SECONDS * active * block * n_columns
        return bool(self._seconds > max(0.2, 0.5 * one_by_one))

    def _finish_by_nearest(self, advance: Callable[[float], None]) -> None:
        active = np.flatnonzero(self.short)
        if len(active):
            blanks = protect_by_nearest(self.crowd, self.rows[active], self.k, self.costs, advance)
            self._apply(active, blanks)

    def _most_patterns(self, sets: np.ndarray) -> int:
        """How many patterns of missing values to heed; fewer where there is much to count.

        Once the largest groups are counted, further rounds differ only by the gaps they made.
        """
        work = len(sets) * int(np.count_nonzero(self.short))
        return max(1, _WORK // max(1, work))

    def _options(self, active: np.ndarray, sets: np.ndarray) -> kernel.Options:
        rows, n_sets, n_active = self.rows[active], len(sets), len(active)
        protects = np.zeros((n_active, n_sets), dtype=bool)
        classes = np.empty((n_sets, n_active), dtype=np.int32)
        members = np.empty((n_sets, n_active), dtype=np.int32)
        starts = np.zeros((n_sets, n_active + 1), dtype=np.int32)
        most_patterns = self._most_patterns(sets)
        for s, pattern in enumerate(sets):
            counts = self.crowd.compatible(
                rows, self.crowd.missing[rows] | pattern, most_patterns=most_patterns
            )
            protects[:, s] = counts >= self.k if s else False
            classes[s], members[s], starts[s] = kernel.classes(self.crowd.rows, rows, pattern)
        ranks = self.sets.ranks(sets)
        return kernel.Options(sets, ranks, protects, classes, members, starts)

    def _choices(self, active: np.ndarray, options: kernel.Options) -> np.ndarray:
        """Choose a set for some violators: greedily, by the gain of each choice."""
        progress = kernel.Progress(
            short=self.short[active],
            waiting=np.diff(options.starts, axis=1),
            chosen=np.zeros(len(active), dtype=np.int64),
            limit=np.full(len(active), _NO_LIMIT),
        )
        gain = _NO_LIMIT
        while gain > 0:
            gain = kernel.sweep(self.crowd.rows, self.rows[active], options, progress, gain)
        return progress.chosen

    def _apply(self, active: np.ndarray, blanks: np.ndarray) -> None:
        touched = np.flatnonzero(blanks)
        self.blanks[active[touched]] = blanks[touched]
        self.crowd.touch(self.rows[active[touched]], blanks[touched])
        self.short[active[touched]] = 0
        left = active[blanks == 0]
        rows = self.rows[left]
        counts = self.crowd.compatible(rows, self.crowd.missing[rows])
        self.short[left] = np.maximum(0, self.k - counts)
