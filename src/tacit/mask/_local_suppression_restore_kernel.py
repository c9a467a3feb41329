"""Giving suppressed values back, on arrays (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Units(NamedTuple):
    """Records at risk, one entry per combination that they violated."""

    rows: np.ndarray
    touched: np.ndarray
    outside: np.ndarray
    counts: np.ndarray


@njit(cache=True, inline="always")
def _compatible(rows, a, b, free):
    """Whether two rows agree wherever neither is free."""
    for j in range(rows.shape[1]):
        if not (free >> j) & 1 and rows[a, j] != rows[b, j]:
            return False
    return True


@njit(cache=True)
def _n_touched(rows, missing, touched_rows, blanks, row, pattern):
    """Count the touched records that may equal a row."""
    total = 0
    for t in range(touched_rows.size):
        other = touched_rows[t]
        total += _compatible(rows, row, other, pattern | missing[other] | blanks[t])
    return total


@njit(cache=True, inline="always")
def _relies(rows, missing, blanks, units, u, row, blank, column):
    """Whether unit u may equal a record with these blanks only because of one column."""
    other = units.rows[u]
    free = missing[other] | units.outside[u]
    if units.touched[u] >= 0:
        free |= blanks[units.touched[u]]
    if (free >> column) & 1 or rows[other, column] == rows[row, column]:
        return False
    return _compatible(rows, row, other, free | blank)


@njit(cache=True)
def _can_spare(rows, missing, blanks, units, t, row, column, k):
    """Whether all units stay safe when touched record t gets a column back."""
    blank = blanks[t] | missing[row]
    for u in range(units.rows.size):
        if units.counts[u] > k or units.touched[u] == t:
            continue
        if _relies(rows, missing, blanks, units, u, row, blank, column):
            return False
    return True


@njit(cache=True)
def _take_from_others(rows, missing, blanks, units, t, row, column):
    blank = blanks[t] | missing[row]
    for u in range(units.rows.size):
        if units.touched[u] != t and _relies(rows, missing, blanks, units, u, row, blank, column):
            units.counts[u] -= 1


@njit(cache=True)
def _own_counts(rows, missing, touched_rows, blanks, units, cells, static, start, stop):
    """Count the records that may equal the own units of a value once it is back."""
    counts = static[start:stop].copy()
    for c in range(start, stop):
        t, column, u = cells[c]
        row = touched_rows[t]
        pattern = (blanks[t] & ~(np.int64(1) << column)) | missing[row] | units.outside[u]
        counts[c - start] += _n_touched(rows, missing, touched_rows, blanks, row, pattern)
    return counts


@njit(cache=True)
def give_back(rows, missing, touched_rows, blanks, changed, units, cells, static, starts, k):
    """Give back each listed value if all stays safe; at most one per record and call.

    Changes `blanks`, `changed` and the counts of the units.
    """
    for s in range(starts.size - 1):
        start, stop = starts[s], starts[s + 1]
        t, column = cells[start, 0], cells[start, 1]
        row = touched_rows[t]
        if changed[t]:
            continue
        own = _own_counts(rows, missing, touched_rows, blanks, units, cells, static, start, stop)
        if own.min() < k or not _can_spare(rows, missing, blanks, units, t, row, column, k):
            continue
        _take_from_others(rows, missing, blanks, units, t, row, column)
        for c in range(start, stop):
            units.counts[cells[c, 2]] = own[c - start]
        blanks[t] &= ~(np.int64(1) << column)
        changed[t] = True
