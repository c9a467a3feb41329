"""Blocks: parts of a large file in which a method can work as if each were the whole file.

The space of the chosen columns is cut in halves of halves, as a sample of the records says, so
that similar records lie in the same block and equal ones always do. Whatever the engine, the same
records make the same blocks: which block a record belongs to follows from its values alone, and
the order of the records never matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import ROW
from tacit.core.errors import DataError, ParameterError

DEFAULT_SIZE = 10_000
"""Records in a block, about; exact MDAV takes a tenth of a second for one of these."""
N_BUCKETS = 1 << 16
"""Random parts into which a leaf that is too large can be cut."""
SAMPLED = 100_000
"""Records of the sample that the cuts are found from."""
_SAMPLED_PER_BLOCK = 20
"""Records of the sample in a block, at the least: fewer would cut blocks of very unequal sizes."""
TARGET = 0.75
"""Share of the wanted size that the leaves have on average, so that few are larger than it."""
_UNMIXED = 1e6
"""Weight of the columns that must not be mixed: they are cut before all others."""


def checked_size(size: int, method: Any) -> int:
    """Refuse blocks in which a method could not form a few groups."""
    k = max(int(getattr(method, "k", 1)), 1)
    if isinstance(size, bool) or not isinstance(size, int) or size < 8 * k:
        raise ParameterError(
            "a block must hold at least eight groups of k records",
            got=f"blocks = {size!r}, k = {k}",
            do=f"use blocks of {max(8 * k, DEFAULT_SIZE):,} records",
        )
    return size


def record_numbers(table: Any, salt: int) -> np.ndarray:
    """Return a random-looking number of each record that depends on its values and the salt only.

    Equal records have equal numbers, whatever engine they come from and however wide its integers.
    """
    import polars as pl
    from polars import selectors as cs

    plain = table.drop(ROW, strict=False).with_columns(
        cs.integer().cast(pl.Int64),
        cs.float().cast(pl.Float64) + 0.0,
        cs.temporal().cast(pl.String),
    )
    return np.asarray(plain.hash_rows(seed=salt).to_numpy())


@dataclass(frozen=True)
class Partition:
    """A tree of cuts: each leaf is a box in the space of some columns."""

    columns: tuple[str, ...]
    """The columns that are cut."""
    values: tuple[Any, ...]
    """For each column its distinct values in the sample, ascending, as a Polars series."""
    axis: np.ndarray
    """Column of each node's cut; -1 in a leaf."""
    cut: np.ndarray
    """Records with a code up to this one go left; in a leaf, its number."""
    left: np.ndarray
    right: np.ndarray
    n_leaves: int

    @classmethod
    def of(
        cls, sample: Any, unmixed: Sequence[str], similar: Sequence[str], largest: float
    ) -> Partition:
        """Cut the space until a leaf holds at most `largest` records of the sample."""
        columns = tuple(dict.fromkeys([*unmixed, *similar]))
        values = tuple(sample[name].drop_nulls().unique().sort() for name in columns)
        codes = _codes(sample, columns, values)
        place = np.zeros(codes.shape)
        for j, name in enumerate(columns):
            place[:, j] = _placed(sample[name], codes[:, j]) * (_UNMIXED if name in unmixed else 1)
        return cls(columns, values, *_grown(codes, place, max(largest, 1.0)))

    def leaves(self, table: Any) -> np.ndarray:
        """Return the leaf of each record of a Polars frame."""
        codes = _codes(table, self.columns, self.values)
        node, everyone = np.zeros(table.height, dtype=np.int64), np.arange(table.height)
        while np.any(inner := self.axis[node] >= 0):
            goes_left = codes[everyone, np.maximum(self.axis[node], 0)] <= self.cut[node]
            onward = np.where(goes_left, self.left[node], self.right[node])
            node = np.where(inner, onward, node)
        return np.asarray(self.cut[node])


def _codes(table: Any, columns: Sequence[str], values: Sequence[Any]) -> np.ndarray:
    """Return where the values of each record lie among those of the sample; -1 is missing."""
    codes = np.full((table.height, max(len(columns), 1)), -1, dtype=np.int64)
    for j, (name, known) in enumerate(zip(columns, values, strict=True)):
        column = table[name].cast(known.dtype)
        present = column.is_not_null().to_numpy()
        if len(known) and present.any():
            codes[present, j] = known.search_sorted(column.drop_nulls(), side="left").to_numpy()
    return codes


def _placed(series: Any, codes: np.ndarray) -> np.ndarray:
    """Return where records lie along a column, in standard deviations; missing ones at its end."""
    import polars as pl

    if series.dtype.is_numeric():
        values = series.cast(pl.Float64).to_numpy().astype(np.float64)
        known = values[np.isfinite(values)]
        if not len(known):
            return np.zeros(len(values))
        # a few extreme values must not hide the spread of all the others
        low, high = np.quantile(known, [0.001, 0.999], method="nearest")
        place = np.clip(np.where(np.isnan(values), low, values), low, high)
        largest = max(abs(low), abs(high))
        place = place / (largest if largest > 0 else 1.0)  # squares of huge values overflow
    else:
        place = codes.astype(np.float64)
    spread = place.std()
    return np.asarray((place - place.mean()) / (spread if spread > 0 else 1.0))


def _grown(codes: np.ndarray, place: np.ndarray, largest: float) -> tuple[Any, ...]:
    """Cut halves of halves along the direction of widest spread; leaves are numbered in order."""
    axis, cut, left, right = [-1], [0], [-1], [-1]
    waiting, n_leaves = [(0, np.arange(len(codes)))], 0
    while waiting:
        node, part = waiting.pop()
        found = _best_cut(codes, place, part) if len(part) > largest else None
        if found is None:
            cut[node], n_leaves = n_leaves, n_leaves + 1
            continue
        axis[node], cut[node] = found
        goes_left = codes[part, found[0]] <= found[1]
        left[node], right[node] = len(axis), len(axis) + 1
        for grown, start in ((axis, -1), (cut, 0), (left, -1), (right, -1)):
            grown += [start, start]
        # the right side waits below the left one, so that neighbouring leaves have near numbers
        waiting += [(right[node], part[~goes_left]), (left[node], part[goes_left])]
    return (*map(np.array, (axis, cut, left, right)), n_leaves)


def _best_cut(codes: np.ndarray, place: np.ndarray, part: np.ndarray) -> tuple[int, int] | None:
    """Return the column and code of the cut nearest the middle of the widest column."""
    spread = place[part].std(axis=0) if place.shape[1] else np.empty(0)
    for j in np.argsort(-spread, kind="stable"):
        column = np.sort(codes[part, j])
        if column[0] == column[-1]:
            continue
        middle = column[(len(column) - 1) // 2]
        below = column[column < middle]
        choices = [middle] if middle < column[-1] else []
        choices += [below[-1]] if len(below) else []
        off = [abs(np.searchsorted(column, c, side="right") - len(column) / 2) for c in choices]
        return int(j), int(choices[int(np.argmin(off))])
    return None


@dataclass(frozen=True)
class Numbering:
    """Which leaf, and which buckets of it, make which block: rows of a small table."""

    leaf: np.ndarray
    first: np.ndarray
    """First bucket."""
    last: np.ndarray
    """Last bucket."""
    block: np.ndarray

    @classmethod
    def of(cls, counts: np.ndarray, buckets: dict[int, np.ndarray], size: int) -> Numbering:
        """Join leaves that are too small, and cut those in `buckets` into random parts."""
        smallest, rows, block, filled = max(size // 4, 1), [], 0, 0
        for leaf, count in enumerate(counts):
            if leaf in buckets:
                # what is waiting from the leaves before is too small alone: the first part has it
                for first, last in _parts(buckets[leaf], size):
                    rows.append((leaf, first, last, block))
                    block += 1
                filled = 0
                continue
            rows.append((leaf, 0, N_BUCKETS - 1, block))
            filled += int(count)
            if filled >= smallest:
                block, filled = block + 1, 0
        if filled < smallest and block:  # too few at the end: they join the block before them
            rows = [(*row[:3], min(row[3], block - 1)) for row in rows]
        return cls(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(self.block.max(initial=-1)) + 1


def too_large(counts: np.ndarray, size: int) -> list[int]:
    """Return the leaves that hold more than twice the records of a block: ties, as a rule."""
    return np.flatnonzero(counts > 2 * size).tolist()


def _parts(in_bucket: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Cut the buckets of a leaf into runs of about `size` records, none below half of it."""
    total = np.cumsum(in_bucket)
    n_parts = max(int(total[-1] // size), 1)
    wanted = np.arange(1, n_parts) * total[-1] / n_parts
    ends, parts, start, done = np.searchsorted(total, wanted), [], 0, 0
    for end in [*ends.tolist(), len(in_bucket) - 1]:
        if (
            end >= start
            and total[end] - done >= size / 2
            and (end == len(in_bucket) - 1 or total[-1] - total[end] >= size / 2)
        ):
            parts.append((start, end))
            start, done = end + 1, int(total[end])
    if not parts:
        return [(0, len(in_bucket) - 1)]
    parts[-1] = (parts[-1][0], len(in_bucket) - 1)
    return parts


def sample_share(n_records: int, size: int) -> int:
    """Return M such that one record in M makes a sample that is large enough for the blocks.

    Examples
    --------
    >>> sample_share(50_000, 10_000), sample_share(10**7, 10_000), sample_share(10**9, 10_000)
    (1, 100, 500)
    """
    return max(min(n_records // SAMPLED, size // _SAMPLED_PER_BLOCK), 1)


def require_some(n_records: int) -> None:
    """Refuse to form blocks of nothing."""
    if n_records == 0:
        raise DataError("there are no records to form blocks of", got="an empty file")
