"""Minimal sample uniques by refining groups of records, one key at a time (numba).

A set of keys is a number whose bit j stands for key j. Sets are visited in ascending order, so that
every set comes after its subsets: the children of a set add one key below its lowest. A record
that is alone on a set is alone on every larger one and matches nobody there, so it leaves the
search below that set. So do groups in which no record can still become unique.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_ONE = np.uint64(1)


@njit(cache=True)
def _regroup(
    columns: np.ndarray,
    key: int,
    rows: np.ndarray,
    groups: np.ndarray,
    new_groups: np.ndarray,
    slots: np.ndarray,
    labels: np.ndarray,
) -> int:
    """Give numbers to the pairs (group, value) of some rows; return how many there are.

    `slots` is an empty table when it comes in and when it goes out.
    """
    mask = np.uint64(slots.size - 1)
    found = 0
    used = np.empty(rows.size, np.int64)
    radix = np.int64(1) << np.int64(32)
    for i in range(rows.size):
        label = np.int64(groups[i]) * radix + np.int64(columns[key, rows[i]])
        spread = np.uint64(label) * _MIX
        at = (spread ^ (spread >> _FOLD)) & mask
        while slots[at] >= 0 and labels[slots[at]] != label:
            at = (at + _ONE) & mask
        if slots[at] < 0:
            slots[at] = found
            labels[found] = label
            used[found] = at
            found += 1
        new_groups[i] = slots[at]
    for k in range(found):
        slots[used[k]] = -1
    return found


@njit(cache=True)
def _has_smaller(sets: np.ndarray, links: np.ndarray, first: int, this: int) -> bool:
    """Tell whether one of the sets found for a row is part of this set."""
    at = first
    while at >= 0:
        if sets[at] & this == sets[at]:
            return True
        at = links[at]
    return False


@njit(cache=True)
def _longer(values: np.ndarray) -> np.ndarray:
    grown = np.empty(2 * values.size, values.dtype)
    grown[: values.size] = values
    return grown


@njit(cache=True)
def _table_size(n: int) -> int:
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(cache=True)
def _split(
    here: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    is_single: np.ndarray,
    kept_rows: np.ndarray,
    kept_groups: np.ndarray,
    alone: np.ndarray,
) -> tuple[int, int]:
    """Part rows alone in their group from rows in groups where somebody may still become so.

    Rows that occur more than once in the file are never alone. Returns how many of each.
    """
    sizes = np.zeros(n_groups, np.int32)
    singles = np.zeros(n_groups, np.int32)
    for i in range(here.size):
        sizes[groups[i]] += 1
        singles[groups[i]] += is_single[here[i]]
    n_kept, n_alone = 0, 0
    for i in range(here.size):
        if sizes[groups[i]] == 1:
            alone[n_alone] = here[i]
            n_alone += is_single[here[i]]
        elif singles[groups[i]] > 0:
            kept_rows[n_kept] = here[i]
            kept_groups[n_kept] = groups[i]
            n_kept += 1
    return n_kept, n_alone


@njit(cache=True)
def minimal_uniques(
    columns: np.ndarray, is_single: np.ndarray, max_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find all minimal sample uniques of at most `max_size` keys.

    `columns` holds the codes of the distinct records, keys by records; `is_single` says which of
    them occur once in the file. Returns for each minimal sample unique the row and the set.
    """
    n_keys, n_rows = columns.shape
    # One level per key of the set: its rows with their groups, and the keys still to add.
    rows = np.empty((max_size + 1, n_rows), np.int32)
    groups = np.zeros((max_size + 1, n_rows), np.int32)
    n_at, this_set, next_key, end_key = np.zeros((4, max_size + 1), np.int64)
    rows[0] = np.arange(n_rows)
    n_at[0], end_key[0] = n_rows, n_keys
    slots = np.full(_table_size(n_rows), -1, np.int32)
    labels = np.empty(n_rows, np.int64)
    new_groups, alone = np.empty(n_rows, np.int32), np.empty(n_rows + 1, np.int32)
    # What was found, with a chain of sets for each row.
    last = np.full(n_rows, -1, np.int64)
    links, sets, owner = (
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
    )
    n_found, depth = 0, 0
    while depth >= 0:
        if depth == max_size or next_key[depth] == end_key[depth] or n_at[depth] == 0:
            depth -= 1
            continue
        key, n = next_key[depth], n_at[depth]
        next_key[depth] += 1
        here = rows[depth, :n]
        n_groups = _regroup(columns, key, here, groups[depth, :n], new_groups, slots, labels)
        n_kept, n_alone = _split(
            here, new_groups, n_groups, is_single, rows[depth + 1], groups[depth + 1], alone
        )
        new_set = this_set[depth] | (np.int64(1) << key)
        for row in alone[:n_alone]:
            if _has_smaller(sets, links, last[row], new_set):
                continue
            if n_found == sets.size:
                links, sets, owner = _longer(links), _longer(sets), _longer(owner)
            links[n_found], sets[n_found], owner[n_found] = last[row], new_set, row
            last[row] = n_found
            n_found += 1
        depth += 1
        n_at[depth], this_set[depth], next_key[depth], end_key[depth] = n_kept, new_set, 0, key
    return owner[:n_found], sets[:n_found]


@njit(cache=True)
def keep_minimal(owner: np.ndarray, sets: np.ndarray, n_rows: int) -> np.ndarray:
    """Say which sets of each row contain no earlier one; sets come smaller ones first."""
    last = np.full(n_rows, -1, np.int64)
    links = np.full(owner.size, -1, np.int64)
    kept = np.zeros(owner.size, np.bool_)
    for i in range(owner.size):
        if not _has_smaller(sets, links, last[owner[i]], sets[i]):
            kept[i] = True
            links[i] = last[owner[i]]
            last[owner[i]] = i
    return kept
