"""Counting and choosing for local suppression, on arrays (numba).

Symbols: `rows` the distinct keys as codes, -1 for missing; a *pattern* is a whole number whose
bit j says that column j may be anything. Tables are exact: rows are hashed, then compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


@njit(cache=True)
def columns_left(pattern: int, n_columns: int) -> np.ndarray:
    """List the columns that a pattern leaves in force."""
    kept = np.empty(n_columns, np.int64)
    n_kept = 0
    for j in range(n_columns):
        if not (pattern >> j) & 1:
            kept[n_kept] = j
            n_kept += 1
    return kept[:n_kept]


@njit(cache=True, inline="always")
def hash_row(rows: np.ndarray, row: int, columns: np.ndarray) -> np.uint64:
    value = _MIX
    for j in columns:
        value = (value ^ np.uint64(rows[row, j] + 1)) * _MIX
        value ^= value >> _FOLD
    return value


@njit(cache=True, inline="always")
def rows_agree(rows: np.ndarray, a: int, b: int, columns: np.ndarray) -> bool:
    for j in columns:
        if rows[a, j] != rows[b, j]:
            return False
    return True


@njit(cache=True)
def empty_slots(n_entries: int) -> np.ndarray:
    size = 16
    while size < 2 * n_entries:
        size *= 2
    return np.full(size, -1, np.int32)


@njit(cache=True, inline="always")
def slot_of(
    rows: np.ndarray, row: int, columns: np.ndarray, slots: np.ndarray, first: np.ndarray
) -> np.uint64:
    """Slot of the group of this row, or the empty slot where it would be."""
    last = np.uint64(slots.size - 1)
    at = hash_row(rows, row, columns) & last
    while slots[at] >= 0 and not rows_agree(rows, row, first[slots[at]], columns):
        at = (at + np.uint64(1)) & last
    return at


@njit(cache=True)
def group(
    rows: np.ndarray, members: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a number to each group of rows that agree on some columns; -1 is a value too.

    Returns the group of each member, a first row of each group, and the hash slots.
    """
    slots = empty_slots(members.size)
    first = np.empty(members.size, np.int32)
    groups = np.empty(members.size, np.int32)
    n_groups = 0
    for i in range(members.size):
        at = slot_of(rows, members[i], columns, slots, first)
        if slots[at] < 0:
            slots[at] = n_groups
            first[n_groups] = members[i]
            n_groups += 1
        groups[i] = slots[at]
    return groups, first[:n_groups], slots


@njit(cache=True)
def count_compatible(
    rows: np.ndarray,
    asked: np.ndarray,
    pattern: int,
    crowd_rows: np.ndarray,
    crowd_counts: np.ndarray,
    starts: np.ndarray,
    patterns: np.ndarray,
) -> np.ndarray:
    """Count for each asked row the records of the crowd that may equal it.

    All asked rows have the same `pattern`; the crowd is sorted by pattern, that of index p lying
    at ``starts[p]:starts[p + 1]``.
    """
    totals = np.zeros(asked.size, np.int64)
    unions = patterns | pattern
    order = np.argsort(unions)
    done = 0
    while done < order.size:
        union, stop = unions[order[done]], done
        while stop < order.size and unions[order[stop]] == union:
            stop += 1
        columns = columns_left(union, rows.shape[1])
        groups, first, slots = group(rows, asked, columns)
        sums = np.zeros(first.size, np.int64)
        for o in range(done, stop):
            p = order[o]
            for i in range(starts[p], starts[p + 1]):
                g = slots[slot_of(rows, crowd_rows[i], columns, slots, first)]
                if g >= 0:
                    sums[g] += crowd_counts[i]
        for i in range(asked.size):
            totals[i] += sums[groups[i]]
        done = stop
    return totals


@njit(cache=True)
def classes(
    rows: np.ndarray, members: np.ndarray, pattern: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort rows into classes that agree outside a pattern.

    Returns the class of each member, the members sorted by class, and where each class starts
    (padded to one start more than there are members).
    """
    groups, _, _ = group(rows, members, columns_left(pattern, rows.shape[1]))
    starts = np.zeros(members.size + 1, np.int32)
    for g in groups:
        starts[g + 1] += 1
    for i in range(members.size):
        starts[i + 1] += starts[i]
    place = starts.copy()
    listed = np.empty(members.size, np.int32)
    for i in range(members.size):
        listed[place[groups[i]]] = i
        place[groups[i]] += 1
    return groups, listed, starts


class Options(NamedTuple):
    """The sets of columns on offer for the violators of one round; set 0 is the empty one."""

    sets: np.ndarray
    """Columns of each set, as a pattern."""
    cost_rank: np.ndarray
    """Rank of each set's cost; equal costs have equal ranks."""
    protects: np.ndarray
    """Violators by sets: whether blanking the set would protect the violator."""
    classes: np.ndarray
    """Sets by violators: class of violators that agree outside the set."""
    members: np.ndarray
    """Sets by violators: violators sorted by class."""
    starts: np.ndarray
    """Sets by classes: where each class starts in `members`."""


class Progress(NamedTuple):
    """What a round has reached so far; changed by `sweep`."""

    short: np.ndarray
    """How many compatible records each violator still lacks."""
    waiting: np.ndarray
    """Sets by classes: violators that still lack some."""
    chosen: np.ndarray
    """Set chosen for each violator, 0 for none."""
    limit: np.ndarray
    """Upper bound of each violator's gain, which only falls."""


@njit(cache=True)
def _gain(v: int, s: int, options: Options, progress: Progress) -> int:
    """Lacking records that blanking set s in violator v supplies, to itself and to others."""
    twins = progress.waiting[0, options.classes[0, v]]
    gain: int = progress.short[v] + progress.waiting[s, options.classes[s, v]] - twins
    return gain


@njit(cache=True)
def _best(v: int, options: Options, progress: Progress) -> tuple[int, int]:
    """Cheapest set that protects violator v; of equal ones, that which helps most."""
    best, best_gain = 0, -1
    for s in range(1, options.sets.size):
        if not options.protects[v, s]:
            continue
        rank = options.cost_rank[s] - options.cost_rank[best] if best else -1
        if rank > 0:
            continue
        gain = _gain(v, s, options, progress)
        if rank < 0 or gain > best_gain:
            best, best_gain = s, gain
    return best, best_gain


@njit(cache=True)
def _settle(v: int, options: Options, progress: Progress) -> None:
    """Take a violator that lacks nothing any more off the waiting lists."""
    progress.short[v] = 0
    for s in range(options.sets.size):
        progress.waiting[s, options.classes[s, v]] -= 1


@njit(cache=True)
def _already_compatible(rows: np.ndarray, a: int, b: int, pattern: int) -> bool:
    for j in range(rows.shape[1]):
        if (pattern >> j) & 1 and rows[a, j] != rows[b, j] and rows[a, j] >= 0 and rows[b, j] >= 0:
            return False
    return True


@njit(cache=True)
def _choose(
    v: int, s: int, rows: np.ndarray, row_of: np.ndarray, options: Options, progress: Progress
) -> None:
    """Blank set s in violator v, and credit the others that it is now compatible with."""
    progress.chosen[v] = s
    _settle(v, options, progress)
    c = options.classes[s, v]
    for i in range(options.starts[s, c], options.starts[s, c + 1]):
        w = options.members[s, i]
        if progress.short[w] == 0:
            continue
        if _already_compatible(rows, row_of[v], row_of[w], options.sets[s]):
            continue
        progress.short[w] -= 1
        if progress.short[w] == 0:
            _settle(w, options, progress)


@njit(cache=True)
def sweep(
    rows: np.ndarray, row_of: np.ndarray, options: Options, progress: Progress, least_gain: int
) -> int:
    """Choose sets for all violators that gain at least `least_gain`; return the next best gain."""
    next_gain = 0
    for v in range(row_of.size):
        if progress.short[v] == 0 or progress.limit[v] < least_gain:
            if progress.short[v] > 0:
                next_gain = max(next_gain, progress.limit[v])
            continue
        s, gain = _best(v, options, progress)
        if s > 0 and gain >= least_gain:
            _choose(v, s, rows, row_of, options, progress)
        else:
            progress.limit[v] = gain if s > 0 else 0
            next_gain = max(next_gain, progress.limit[v])
    return next_gain
