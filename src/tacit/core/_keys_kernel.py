"""Counting of key combinations with exact hash tables and sorted searches (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)
_ONE = np.uint64(1)
_FEW_ROWS = 8
"""Ranges this short are compared row by row."""


@njit(cache=True, inline="always")
def _mixed(value: int | np.uint64) -> np.uint64:
    """Spread the bits of a 64-bit number (Fibonacci hashing)."""
    spread = np.uint64(value) * _MIX
    return spread ^ (spread >> _FOLD)


@njit(cache=True)
def _table_size(n: int) -> int:
    size = 16
    while size < 2 * n:
        size *= 2
    return size


# -- rows of codes as integers --------------------------------------------------------------------


@njit(cache=True)
def ranges(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest code of each column."""
    low, high = codes[0].astype(np.int64), codes[0].astype(np.int64)
    for i in range(1, codes.shape[0]):
        for j in range(codes.shape[1]):
            code = codes[i, j]
            if code < low[j]:
                low[j] = code
            elif code > high[j]:
                high[j] = code
    return low, high


@njit(cache=True)
def pack(
    packed: np.ndarray, codes: np.ndarray, low: np.ndarray, radix: np.ndarray, first: int, end: int
) -> None:
    """Write some columns of each row behind what is packed already, as digits of one number."""
    for i in range(codes.shape[0]):
        number = packed[i]
        for j in range(first, end):
            number = number * radix[j] + (codes[i, j] - low[j])
        packed[i] = number


# -- numbering distinct integers ------------------------------------------------------------------


@njit(cache=True)
def dense_ids(packed: np.ndarray) -> tuple[np.ndarray, int]:
    """Give each distinct value a number, in order of appearance; return how many there are."""
    n = packed.size
    size = _table_size(min(n, 1 << 16))
    slots = np.full(size, -1, np.int64)
    values = np.empty(n, np.int64)
    ids = np.empty(n, np.int64)
    found = 0
    for i in range(n):
        if 2 * found >= size:
            size *= 4
            slots = _refilled(values, found, size)
        mask = np.uint64(size - 1)
        at = _mixed(packed[i]) & mask
        while slots[at] >= 0 and values[slots[at]] != packed[i]:
            at = (at + _ONE) & mask
        if slots[at] < 0:
            slots[at] = found
            values[found] = packed[i]
            found += 1
        ids[i] = slots[at]
    return ids, found


@njit(cache=True)
def _refilled(values: np.ndarray, found: int, size: int) -> np.ndarray:
    """Enter the values found so far in a larger table."""
    slots = np.full(size, -1, np.int64)
    mask = np.uint64(size - 1)
    for k in range(found):
        at = _mixed(values[k]) & mask
        while slots[at] >= 0:
            at = (at + _ONE) & mask
        slots[at] = k
    return slots


@njit(cache=True)
def first_rows(ids: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the first row of each group."""
    first = np.full(n_groups, -1, np.int64)
    for i in range(ids.size):
        if first[ids[i]] < 0:
            first[ids[i]] = i
    return first


# -- missing as a wildcard: pairs of missing patterns ---------------------------------------------


@njit(cache=True, inline="always")
def _slot(codes: np.ndarray, row: int, kept: np.ndarray, slots: np.ndarray) -> np.uint64:
    """Find the bucket of a row's kept columns; collisions are told apart by comparing rows."""
    mask = np.uint64(slots.size - 1)
    at = np.uint64(kept.size)
    for c in kept:
        at = _mixed(at ^ np.uint64(codes[row, c]))
    at &= mask
    while slots[at] >= 0 and not _equal_on(codes, slots[at], row, kept):
        at = (at + _ONE) & mask
    return at


@njit(cache=True, inline="always")
def _equal_on(codes: np.ndarray, a: int, b: int, kept: np.ndarray) -> bool:
    for c in kept:  # a loop: numba does not compile all() over a generator
        if codes[a, c] != codes[b, c]:
            return False
    return True


@njit(cache=True)
def _add_each_other(
    codes: np.ndarray,
    amounts: np.ndarray,
    small: np.ndarray,
    large: np.ndarray,
    kept: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Let rows of two sets that agree on the kept columns add their amounts to each other.

    The small set is hashed, each row of the large set looks itself up.
    """
    slots = np.full(_table_size(small.size), -1, np.int64)
    of_small = np.zeros(slots.size, amounts.dtype)
    of_large = np.zeros(slots.size, amounts.dtype)
    for row in small:
        at = _slot(codes, row, kept, slots)
        slots[at] = row
        of_small[at] += amounts[row]
    for row in large:
        at = _slot(codes, row, kept, slots)
        if slots[at] >= 0:
            totals[row] += of_small[at]
            of_large[at] += amounts[row]
    for row in small:
        totals[row] += of_large[_slot(codes, row, kept, slots)]


@njit(cache=True)
def pattern_totals(
    codes: np.ndarray,
    amounts: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    patterns: np.ndarray,
) -> np.ndarray:
    """Sum, for each distinct row, the amounts of all rows it may equal: by missing pattern.

    `order` lists the rows by pattern, ``order[starts[a]:starts[a + 1]]`` having ``patterns[a]``.
    Rows of one pattern match only themselves. For two patterns, both sides are projected on the
    columns that neither blanks. The cost grows with patterns times rows.
    """
    totals = amounts.copy()
    for a in range(starts.size - 1):
        rows_a = order[starts[a] : starts[a + 1]]
        for b in range(a + 1, starts.size - 1):
            rows_b = order[starts[b] : starts[b + 1]]
            kept = np.flatnonzero(~(patterns[a] | patterns[b]))
            if rows_a.size <= rows_b.size:
                _add_each_other(codes, amounts, rows_a, rows_b, kept, totals)
            else:
                _add_each_other(codes, amounts, rows_b, rows_a, kept, totals)
    return totals


# -- missing as a wildcard: search in sorted rows -------------------------------------------------


@njit(cache=True)
def _first_above(column: np.ndarray, start: int, end: int, value: int) -> int:
    """First position in ``column[start:end]``, which ascends, that holds more than `value`."""
    while start < end:
        middle = (start + end) // 2
        if column[middle] > value:
            end = middle
        else:
            start = middle + 1
    return start


@njit(cache=True, inline="always")
def _may_equal(columns: np.ndarray, a: int, b: int, level: int) -> bool:
    for c in range(level, columns.shape[0]):
        x, y = columns[c, a], columns[c, b]
        if x != y and x >= 0 and y >= 0:
            return False
    return True


@njit(cache=True)
def search_totals(columns: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Sum, for each distinct row, the amounts of all rows it may equal: by search.

    `columns` holds the codes columns by rows, the rows in lexicographic order. Rows that agree so
    far form a range; a range splits by the next column, and only the parts that may equal the
    sought row are followed. The cost does not depend on the number of missing patterns.
    """
    n_columns, n_rows = columns.shape
    totals = np.zeros(n_rows, amounts.dtype)
    # ranges that wait are disjoint, so there are never more of them than rows
    waiting = np.empty((n_rows + 1, 3), np.int64)
    for row in range(n_rows):
        waiting[0] = (0, n_rows, 0)
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            start, end, level = waiting[n_waiting]
            if end - start <= _FEW_ROWS or level == n_columns:
                for other in range(start, end):
                    if _may_equal(columns, row, other, level):
                        totals[row] += amounts[other]
                continue
            column, sought = columns[level], columns[level, row]
            while start < end and (sought < 0 or column[start] <= sought):
                if 0 <= column[start] < sought:
                    start = _first_above(column, start, end, sought - 1)
                    continue
                stop = _first_above(column, start, end, column[start])
                waiting[n_waiting] = (start, stop, level + 1)
                n_waiting += 1
                start = stop
    return totals
