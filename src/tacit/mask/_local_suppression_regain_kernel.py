"""Giving suppressed values back where missing is a value of its own, on arrays (numba).

A *class* is a set of records with equal keys on one combination of columns; it must hold k records
or none. Keys are kept as a row of original codes and a pattern of blanks, neither of which changes,
so that the table stays exact while records move from class to class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


class Classes(NamedTuple):
    """Classes of all combinations in one hash table; changed as records move."""

    slots: np.ndarray
    combination: np.ndarray
    row: np.ndarray
    pattern: np.ndarray
    held: np.ndarray
    """Number of records in each class."""
    size: np.ndarray
    """Number of classes, as an array of one."""


@njit(cache=True, inline="always")
def _code(rows: np.ndarray, row: int, pattern: int, j: int) -> int:
    code: int = rows[row, j]
    return -1 if (pattern >> j) & 1 else code


@njit(cache=True)
def _hash(rows: np.ndarray, row: int, pattern: int, combination: int, columns: int) -> np.uint64:
    value = _MIX * np.uint64(combination + 1)
    for j in range(rows.shape[1]):
        if (columns >> j) & 1:
            value = (value ^ np.uint64(_code(rows, row, pattern, j) + 1)) * _MIX
            value ^= value >> _FOLD
    return value


@njit(cache=True)
def _equal(
    rows: np.ndarray, row: int, pattern: int, other: int, other_pattern: int, columns: int
) -> bool:
    for j in range(rows.shape[1]):
        differs = _code(rows, row, pattern, j) != _code(rows, other, other_pattern, j)
        if (columns >> j) & 1 and differs:
            return False
    return True


@njit(cache=True)
def _class_of(
    rows: np.ndarray, classes: Classes, row: int, pattern: int, combination: int, columns: int
) -> int:
    """Find the class of a key, which is made where there is none."""
    last = np.uint64(classes.slots.size - 1)
    at = _hash(rows, row, pattern, combination, columns) & last
    while classes.slots[at] >= 0:
        c: int = classes.slots[at]
        if classes.combination[c] == combination and _equal(
            rows, row, pattern, classes.row[c], classes.pattern[c], columns
        ):
            return c
        at = (at + np.uint64(1)) & last
    new: int = classes.size[0]
    classes.slots[at] = new
    classes.size[0] += 1
    classes.combination[new], classes.row[new], classes.pattern[new] = combination, row, pattern
    return new


@njit(cache=True)
def fill(
    rows: np.ndarray,
    classes: Classes,
    items: np.ndarray,
    patterns: np.ndarray,
    counts: np.ndarray,
    combinations: np.ndarray,
) -> None:
    """Count records (grouped as items) in the classes of all combinations."""
    for x in range(items.size):
        for c in range(combinations.size):
            at = _class_of(rows, classes, items[x], patterns[x], c, combinations[c])
            classes.held[at] += counts[x]


@njit(cache=True)
def _shift(
    rows: np.ndarray, classes: Classes, row: int, old: int, new: int, combinations: np.ndarray
) -> None:
    """Move a record from one key to another in all combinations that see the change."""
    for c in range(combinations.size):
        if combinations[c] & (old ^ new):
            classes.held[_class_of(rows, classes, row, old, c, combinations[c])] -= 1
            classes.held[_class_of(rows, classes, row, new, c, combinations[c])] += 1


@njit(cache=True)
def _is_whole(
    rows: np.ndarray,
    classes: Classes,
    row: int,
    pattern: int,
    changed: int,
    combinations: np.ndarray,
    k: int,
) -> bool:
    """Whether all classes of a key that see the change hold k records or none."""
    for c in range(combinations.size):
        if combinations[c] & changed:
            count = classes.held[_class_of(rows, classes, row, pattern, c, combinations[c])]
            if 0 < count < k:
                return False
    return True


@njit(cache=True)
def _all_lack(blanks: np.ndarray, members: np.ndarray, pattern: int) -> bool:
    for t in members:
        if blanks[t] & pattern != pattern:
            return False
    return True


@njit(cache=True)
def _fits(
    rows: np.ndarray,
    classes: Classes,
    touched: np.ndarray,
    blanks: np.ndarray,
    members: np.ndarray,
    gained: int,
    combinations: np.ndarray,
    k: int,
) -> bool:
    """Whether the classes that members left and those that they joined are whole."""
    for t in members:
        row, old = touched[t], blanks[t]
        if not _is_whole(rows, classes, row, old, gained, combinations, k):
            return False
        if not _is_whole(rows, classes, row, old & ~gained, gained, combinations, k):
            return False
    return True


@njit(cache=True)
def give_back(
    rows: np.ndarray,
    classes: Classes,
    touched: np.ndarray,
    blanks: np.ndarray,
    groups: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    combinations: np.ndarray,
    k: int,
) -> int:
    """Give each group of touched records its columns back, if all classes stay whole.

    ``groups[starts[g]:starts[g + 1]]`` are the records of group g, ``columns[g]`` the pattern of
    what to give back. Changes `blanks` and the classes; returns how many groups gained.
    """
    n_gained = 0
    for g in range(columns.size):
        members, gained = groups[starts[g] : starts[g + 1]], columns[g]
        room = classes.held.size - classes.size[0]
        if room < 2 * members.size * combinations.size or not _all_lack(blanks, members, gained):
            continue
        for t in members:
            _shift(rows, classes, touched[t], blanks[t], blanks[t] & ~gained, combinations)
        fits = _fits(rows, classes, touched, blanks, members, gained, combinations, k)
        for t in members:
            if fits:
                blanks[t] &= ~gained
            else:
                _shift(rows, classes, touched[t], blanks[t] & ~gained, blanks[t], combinations)
        n_gained += fits
    return n_gained
