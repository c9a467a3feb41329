"""The records as local suppression sees them: distinct keys with counts, and touched records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.core.keys import MISSING_CODE, Missing, frequencies, group_ids
from tacit.mask import _local_suppression_kernel as kernel
from tacit.mask._classes import first_of


def patterns_of(blank: np.ndarray) -> np.ndarray:
    """Write each row of a table of truths as one number, column j as bit j."""
    bits = np.int64(1) << np.arange(blank.shape[1], dtype=np.int64)
    return np.asarray(blank @ bits, dtype=np.int64)


def columns_of(patterns: np.ndarray, n_columns: int) -> np.ndarray:
    """Undo `patterns_of`."""
    bits = np.int64(1) << np.arange(n_columns, dtype=np.int64)
    return np.asarray((patterns[:, None] & bits) != 0)


def blank_out(
    codes: np.ndarray, records: np.ndarray, columns: Sequence[int], patterns: np.ndarray
) -> None:
    """Set codes to missing in place, where a record's pattern over some columns says so."""
    cells = np.ix_(records, np.asarray(columns))
    codes[cells] = np.where(columns_of(patterns, len(columns)), MISSING_CODE, codes[cells])


def rare(
    codes: np.ndarray,
    combinations: Iterable[Sequence[int]],
    k: int,
    missing: Missing,
    exempt: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Return which records share their key on some combination with fewer than `k` records.

    With `exempt`, the records that it marks for a combination do not count as rare there.
    """
    ids, n_rows = group_ids(codes)
    counts = np.bincount(ids, minlength=n_rows)
    first = first_of(ids, n_rows)
    rows = codes[first]
    found = np.zeros(n_rows, dtype=bool)
    for i, columns in enumerate(combinations):
        is_rare = frequencies(rows[:, columns], counts, missing=missing) < k
        found |= is_rare if exempt is None else is_rare & ~exempt[i][first]
    return np.asarray(found[ids])


def fewest_in_reach(
    codes: np.ndarray,
    columns: Sequence[int],
    costs: np.ndarray,
    missing: Missing,
    exempt: np.ndarray | None = None,
) -> int:
    """Return the smallest class that is left when all that may be blanked is blanked."""
    kept = [j for j in columns if not np.isfinite(costs[j])]
    if not kept:
        return len(codes)
    reach = frequencies(codes[:, kept], missing=missing)
    return int(reach.min() if exempt is None else reach[~exempt].min(initial=len(codes)))


@dataclass
class Crowd:
    """Records grouped by equal keys; those that lost values stand apart."""

    rows: np.ndarray
    """Distinct keys as codes in lexicographic order, -1 for missing."""
    row_of: np.ndarray
    """Row of each record."""
    counts: np.ndarray
    """Untouched records of each row."""
    missing: np.ndarray
    """Pattern of the missing values of each row."""
    touched_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    """Original row of each touched record."""
    touched_blanks: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    """Pattern of the values each touched record lost."""
    _sorted: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, codes: np.ndarray, counts: np.ndarray | None = None) -> Crowd:
        """Group records by their codes, in an order that does not depend on theirs.

        With `counts`, each row of codes stands for so many records.
        """
        ids, n_rows = group_ids(codes)
        first = first_of(ids, n_rows)
        order = np.lexsort(codes[first].T[::-1]) if codes.shape[1] else np.arange(n_rows)
        rank = np.empty(n_rows, dtype=np.int32)
        rank[order] = np.arange(n_rows, dtype=np.int32)
        rows = np.ascontiguousarray(codes[first[order]], dtype=np.int32)
        row_of = rank[ids]
        totals = np.bincount(row_of, weights=counts, minlength=n_rows).astype(np.int64)
        return cls(rows, row_of, totals, patterns_of(rows == MISSING_CODE))

    def touch(self, rows: np.ndarray, blanks: np.ndarray) -> None:
        """Blank values in one record for each of `rows`."""
        np.subtract.at(self.counts, rows, 1)
        self.touched_rows = np.concatenate([self.touched_rows, rows]).astype(np.int32)
        self.touched_blanks = np.concatenate([self.touched_blanks, blanks])
        self._sorted = None

    def compatible(
        self, rows: np.ndarray, patterns: np.ndarray, *, most_patterns: int | None = None
    ) -> np.ndarray:
        """Count the records that may equal each given row, of which `patterns` may be anything.

        With `most_patterns`, records with rare patterns of missing values are left out: a lower
        bound that costs less.
        """
        crowd_rows, counts, starts, crowd_patterns = self._by_pattern()
        totals = np.zeros(len(rows), dtype=np.int64)
        order = np.argsort(patterns, kind="stable")
        distinct, begins = np.unique(patterns[order], return_index=True)
        for pattern, chosen in zip(distinct, np.split(order, begins[1:]), strict=bool(len(rows))):
            totals[chosen] = kernel.count_compatible(
                self.rows, rows[chosen].astype(np.int32), pattern,
                crowd_rows, counts, starts, crowd_patterns[:most_patterns],
            )  # fmt: skip
        return totals

    @property
    def n_patterns(self) -> int:
        """Number of patterns of missing values among the records."""
        return len(self._by_pattern()[3])

    def _by_pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows and counts sorted by pattern, most frequent first; starts; patterns."""
        if self._sorted is None:
            untouched = np.flatnonzero(self.counts).astype(np.int32)
            rows = np.concatenate([untouched, self.touched_rows])
            counts = np.ones(len(rows), dtype=np.int64)
            counts[: len(untouched)] = self.counts[untouched]
            patterns = self.missing[rows]
            patterns[len(untouched) :] |= self.touched_blanks
            distinct, which, sizes = np.unique(patterns, return_inverse=True, return_counts=True)
            frequent = np.argsort(-sizes, kind="stable")
            rank = np.empty_like(frequent)
            rank[frequent] = np.arange(len(frequent))
            order = np.argsort(rank[which], kind="stable")
            starts = np.append(0, np.cumsum(sizes[frequent]))
            self._sorted = rows[order], counts[order], starts, distinct[frequent]
        return self._sorted
