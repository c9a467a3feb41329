# mypy: ignore-errors
"""Variable-size MDAV on arrays (Solanas and Martinez-Balleste 2006).

Symbols: X records by attributes, free the records not yet in a group.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_FAST = {"nnan", "ninf", "nsz", "contract", "reassoc"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _squared(X, a, b):
    total = 0.0
    for j in range(X.shape[1]):
        d = X[a, j] - X[b, j]
        total += d * d
    return total


@njit(cache=True, nogil=True)
def _nearest(X, free, n_free, seed, count):
    """Return the slots of the `count` free records nearest to `seed`, nearest first."""
    slots = np.full(count, -1)
    distances = np.full(count, np.inf)
    for s in range(n_free):
        if free[s] == seed:
            continue
        d = _squared(X, free[s], seed)
        if d >= distances[count - 1]:
            continue
        at = count - 1
        while at > 0 and d < distances[at - 1]:
            distances[at], slots[at] = distances[at - 1], slots[at - 1]
            at -= 1
        distances[at], slots[at] = d, s
    return slots, distances


@njit(cache=True, nogil=True)
def _take(free, n_free, slot):
    free[slot] = free[n_free - 1]
    return n_free - 1


@njit(cache=True, nogil=True)
def _slot_of(free, n_free, record):
    for s in range(n_free):
        if free[s] == record:
            return s
    return -1


@njit(cache=True, nogil=True)
def _extend(X, free, n_free, group_of, group, to_group, size, k, gamma):
    """Add free records that lie nearer to the group than, times gamma, to other free records.

    `to_group` holds each free record's squared distance to its nearest member of the group.
    """
    while size < 2 * k - 1 and n_free > 1:
        slot = 0
        for s in range(1, n_free):
            if to_group[free[s]] < to_group[free[slot]]:
                slot = s
        record = free[slot]
        _, outside = _nearest(X, free, n_free, record, 1)
        if np.sqrt(to_group[record]) >= gamma * np.sqrt(outside[0]):
            break
        group_of[record] = group
        n_free = _take(free, n_free, slot)
        size += 1
        for s in range(n_free):
            to_group[free[s]] = min(to_group[free[s]], _squared(X, free[s], record))
    return n_free


@njit(cache=True, nogil=True)
def form_groups(X, order, free, group_of, to_group, counters, k, gamma, steps):
    """Form at most `steps` groups; counters hold the free records, the groups, the place in order.

    `order` lists the records from the farthest to the centroid of all records to the nearest.
    Returns whether fewer than k records are left.
    """
    n_free, group, place = counters[0], counters[1], counters[2]
    for _ in range(steps):
        if n_free < k:
            break
        while group_of[order[place]] >= 0:
            place += 1
        seed = order[place]
        group_of[seed] = group
        slots, _ = _nearest(X, free, n_free, seed, k - 1)
        members = np.empty(k, dtype=np.int64)
        members[0] = seed
        for m in range(k - 1):
            members[m + 1] = free[slots[m]]
        for m in range(k):
            group_of[members[m]] = group
            n_free = _take(free, n_free, _slot_of(free, n_free, members[m]))
        for s in range(n_free):
            nearest = np.inf
            for m in range(k):
                nearest = min(nearest, _squared(X, free[s], members[m]))
            to_group[free[s]] = nearest
        n_free = _extend(X, free, n_free, group_of, group, to_group, k, k, gamma)
        group += 1
    counters[0], counters[1], counters[2] = n_free, group, place
    return n_free < k


@njit(cache=True, nogil=True)
def place_rest(X, free, group_of, counters):
    """Put the records that are left into the groups with the nearest centroids."""
    n_groups = counters[1]
    sums = np.zeros((n_groups, X.shape[1]))
    sizes = np.zeros(n_groups)
    for i in range(X.shape[0]):
        if group_of[i] >= 0:
            sizes[group_of[i]] += 1.0
            for j in range(X.shape[1]):
                sums[group_of[i], j] += X[i, j]
    for s in range(counters[0]):
        best, best_distance = 0, np.inf
        for g in range(n_groups):
            d = 0.0
            for j in range(X.shape[1]):
                diff = X[free[s], j] - sums[g, j] / sizes[g]
                d += diff * diff
            if d < best_distance:
                best, best_distance = g, d
        group_of[free[s]] = best
