"""Giving suppressed values back where missing may be anything, on arrays (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit


class People(NamedTuple):
    """All records: rows with counts of untouched ones, and touched ones; `blanks` changes."""

    rows: np.ndarray
    """Distinct original keys as codes."""
    missing: np.ndarray
    """Pattern of the missing values of each row."""
    counts: np.ndarray
    """Untouched records of each row."""
    touched: np.ndarray
    """Row of each touched record."""
    blanks: np.ndarray
    """Pattern of what each touched record lost."""


class Units(NamedTuple):
    """Records at risk, one entry per combination that they violated; `counts` changes."""

    rows: np.ndarray
    touched: np.ndarray
    """Number of the touched record, -1 where the record has lost nothing."""
    outside: np.ndarray
    """Pattern of the columns that do not belong to the combination."""
    counts: np.ndarray
    """Records that may equal the unit."""
    own: np.ndarray
    """Units of touched records, sorted by these."""
    own_starts: np.ndarray
    """Where the units of each touched record start in `own`."""


@njit(cache=True, inline="always")
def _compatible(rows: np.ndarray, a: int, b: int, free: int) -> bool:
    """Whether two rows agree wherever neither is free."""
    for j in range(rows.shape[1]):
        if rows[a, j] != rows[b, j] and not (free >> j) & 1:
            return False
    return True


@njit(cache=True)
def _n_compatible(people: People, row: int, pattern: int) -> int:
    """Count the records that may equal a row."""
    total = 0
    for x in range(people.counts.size):
        if people.counts[x] and _compatible(people.rows, row, x, pattern | people.missing[x]):
            total += people.counts[x]
    for t in range(people.touched.size):
        x = people.touched[t]
        free = pattern | people.missing[x] | people.blanks[t]
        total += _compatible(people.rows, row, x, free)
    return total


@njit(cache=True)
def _own_counts(people: People, units: Units, t: int, column: int, k: int) -> np.ndarray:
    """Count the records that may equal each unit of touched record t once it has a column back.

    Stops at the first unit that would fall short.
    """
    own = units.own[units.own_starts[t] : units.own_starts[t + 1]]
    counts = np.full(own.size, -1, np.int64)
    row, bit = people.touched[t], np.int64(1) << column
    for i in range(own.size):
        if units.outside[own[i]] & bit:
            counts[i] = units.counts[own[i]]
            continue
        pattern = (people.blanks[t] & ~bit) | people.missing[row] | units.outside[own[i]]
        counts[i] = _n_compatible(people, row, pattern)
        if counts[i] < k:
            break
    return counts


@njit(cache=True, inline="always")
def _relies(people: People, units: Units, u: int, t: int, column: int) -> bool:
    """Whether unit u may equal touched record t only because t lost a column."""
    row, other = people.touched[t], units.rows[u]
    free = people.missing[other] | units.outside[u]
    if units.touched[u] >= 0:
        free |= people.blanks[units.touched[u]]
    if (free >> column) & 1 or people.rows[other, column] == people.rows[row, column]:
        return False
    return _compatible(people.rows, row, other, free | people.blanks[t] | people.missing[row])


@njit(cache=True)
def _can_spare(people: People, units: Units, t: int, column: int, k: int) -> bool:
    """Whether all other units stay safe when touched record t gets a column back."""
    for u in range(units.rows.size):
        if units.counts[u] > k or units.touched[u] == t:
            continue
        if _relies(people, units, u, t, column):
            return False
    return True


@njit(cache=True)
def _give(people: People, units: Units, t: int, column: int, own_counts: np.ndarray) -> None:
    for u in range(units.rows.size):
        if units.touched[u] != t and _relies(people, units, u, t, column):
            units.counts[u] -= 1
    for i in range(own_counts.size):
        units.counts[units.own[units.own_starts[t] + i]] = own_counts[i]
    people.blanks[t] &= ~(np.int64(1) << column)


@njit(cache=True)
def give_back(
    people: People, units: Units, touched: np.ndarray, columns: np.ndarray, k: int
) -> np.ndarray:
    """Give back each listed value if all stays safe.

    Returns for each value whether it was given back (1), may be later (0), or never (-1): the
    count of a record only falls while others get values back.
    """
    outcome = np.zeros(touched.size, np.int8)
    for i in range(touched.size):
        t, column = touched[i], columns[i]
        own_counts = _own_counts(people, units, t, column, k)
        if own_counts.min() < k:
            outcome[i] = -1
        elif _can_spare(people, units, t, column, k):
            _give(people, units, t, column, own_counts)
            outcome[i] = 1
    return outcome
