"""Giving suppressed values back where missing is a value of its own, on arrays (numba).

A *class* is a set of records with equal keys on one combination of columns; it must hold k records
or none. Keys are kept as a row of original codes and a pattern of blanks, neither of which changes,
so that the table stays exact while records move from class to class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


class Classes(NamedTuple):
    """Classes of all combinations in one hash table; changed as records move."""

    slots: np.ndarray
    combination: np.ndarray
    row: np.ndarray
    pattern: np.ndarray
    count: np.ndarray
    size: np.ndarray
    """Number of classes, as an array of one."""


@njit(cache=True, inline="always")
def _code(rows, row, pattern, j):
    return -1 if (pattern >> j) & 1 else rows[row, j]


@njit(cache=True)
def _hash(rows, row, pattern, combination, columns):
    value = _MIX * np.uint64(combination + 1)
    for j in range(rows.shape[1]):
        if (columns >> j) & 1:
            value = (value ^ np.uint64(_code(rows, row, pattern, j) + 1)) * _MIX
            value ^= value >> _FOLD
    return value


@njit(cache=True)
def _equal(rows, row, pattern, other, other_pattern, columns):
    for j in range(rows.shape[1]):
        if (columns >> j) & 1:
            if _code(rows, row, pattern, j) != _code(rows, other, other_pattern, j):
                return False
    return True


@njit(cache=True)
def _class_of(rows, classes, row, pattern, combination, columns):
    """Find the class of a key, which is made where there is none."""
    last = np.uint64(classes.slots.size - 1)
    at = _hash(rows, row, pattern, combination, columns) & last
    while classes.slots[at] >= 0:
        c = classes.slots[at]
        if classes.combination[c] == combination and _equal(
            rows, row, pattern, classes.row[c], classes.pattern[c], columns
        ):
            return c
        at = (at + np.uint64(1)) & last
    c = classes.size[0]
    classes.slots[at] = c
    classes.size[0] += 1
    classes.combination[c], classes.row[c], classes.pattern[c] = combination, row, pattern
    return c


@njit(cache=True)
def fill(rows, classes, items, patterns, counts, combinations):
    """Count records (grouped as items) in the classes of all combinations."""
    for x in range(items.size):
        for c in range(combinations.size):
            at = _class_of(rows, classes, items[x], patterns[x], c, combinations[c])
            classes.count[at] += counts[x]


@njit(cache=True)
def _shift(rows, classes, row, old, new, changed, combinations, amount):
    """Move records from one key to another in all combinations that see the change."""
    for c in range(combinations.size):
        if combinations[c] & changed:
            classes.count[_class_of(rows, classes, row, old, c, combinations[c])] -= amount
            classes.count[_class_of(rows, classes, row, new, c, combinations[c])] += amount


@njit(cache=True)
def _is_whole(rows, classes, row, pattern, changed, combinations, k):
    """Whether all classes of a key that see the change hold k records or none."""
    for c in range(combinations.size):
        if combinations[c] & changed:
            count = classes.count[_class_of(rows, classes, row, pattern, c, combinations[c])]
            if 0 < count < k:
                return False
    return True


@njit(cache=True)
def give_back(rows, classes, touched, blanks, groups, starts, columns, combinations, k):
    """Give each group of touched records its columns back, if all classes stay whole.

    ``groups[starts[g]:starts[g + 1]]`` are the records of group g, ``columns[g]`` the pattern of
    what to give back. Changes `blanks` and the classes; returns how many groups gained.
    """
    n_gained = 0
    for g in range(columns.size):
        members = groups[starts[g] : starts[g + 1]]
        gained = columns[g]
        if not _all_blank(blanks, members, gained):
            continue
        for t in members:
            _shift(rows, classes, touched[t], blanks[t], blanks[t] & ~gained, gained, combinations, 1)
        fits = True
        for t in members:
            fits = fits and _is_whole(rows, classes, touched[t], blanks[t], gained, combinations, k)
            fits = fits and _is_whole(
                rows, classes, touched[t], blanks[t] & ~gained, gained, combinations, k
            )
        for t in members:
            if fits:
                blanks[t] &= ~gained
            else:
                _shift(
                    rows, classes, touched[t], blanks[t] & ~gained, blanks[t], gained, combinations, 1
                )
        n_gained += fits
    return n_gained


@njit(cache=True)
def _all_blank(blanks, members, pattern):
    for t in members:
        if blanks[t] & pattern != pattern:
            return False
    return True
