# mypy: ignore-errors
"""MDAV on numbers and categories together (Domingo-Ferrer and Torra 2005).

Symbols: X numeric attributes (scaled), C codes of categorical attributes, D squared distances
between categories (attribute, category, category). The average record has the mean of a number and,
of a category, its median (ordinal) or mode (nominal) among the free records.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_FAST = {"nnan", "ninf", "nsz", "contract", "reassoc"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _squared(X, C, D, i, x, c):
    """Squared distance of record i to the point with numbers x and categories c."""
    total = 0.0
    for j in range(X.shape[1]):
        d = X[i, j] - x[j]
        total += d * d
    for j in range(C.shape[1]):
        total += D[j, C[i, j], c[j]]
    return total


@njit(cache=True, nogil=True)
def middle_category(counts, n_categories, n, is_ordinal):
    """Return the median category of an ordinal attribute, the mode of a nominal one."""
    if not is_ordinal:
        best = 0
        for v in range(1, n_categories):
            if counts[v] > counts[best]:
                best = v
        return best
    below = 0
    for v in range(n_categories):
        below += counts[v]
        if 2 * below >= n:
            return v
    return n_categories - 1


@njit(cache=True, nogil=True)
def _farthest(X, C, D, free, n_free, x, c):
    best, best_distance = free[0], -1.0
    for s in range(n_free):
        d = _squared(X, C, D, free[s], x, c)
        if d > best_distance or (d == best_distance and free[s] < best):
            best, best_distance = free[s], d
    return best


@njit(cache=True, nogil=True)
def _close_group(X, C, D, free, n_free, seed, k, groups, group, totals, counts):
    """Group the seed with its k - 1 nearest free records and take them out."""
    slots, distances = np.full(k, -1), np.full(k, np.inf)
    for s in range(n_free):
        d = -1.0 if free[s] == seed else _squared(X, C, D, free[s], X[seed], C[seed])
        if d > distances[k - 1] or (d == distances[k - 1] and free[s] > free[slots[k - 1]]):
            continue
        at = k - 1
        while at > 0 and (
            d < distances[at - 1] or (d == distances[at - 1] and free[s] < free[slots[at - 1]])
        ):
            distances[at], slots[at] = distances[at - 1], slots[at - 1]
            at -= 1
        distances[at], slots[at] = d, s
    for m in range(k):
        record = free[slots[m]]
        groups[record] = group
        for j in range(X.shape[1]):
            totals[j] -= X[record, j]
        for j in range(C.shape[1]):
            counts[j, C[record, j]] -= 1
    slots = np.sort(slots)
    for m in range(k - 1, -1, -1):  # from the back, so that earlier slots stay valid
        n_free -= 1
        free[slots[m]] = free[n_free]
    return n_free


@njit(cache=True, nogil=True)
def _average(totals, counts, n_categories, ordinal, n_free, x, c):
    for j in range(totals.size):
        x[j] = totals[j] / n_free
    for j in range(ordinal.size):
        c[j] = middle_category(counts[j], n_categories[j], n_free, ordinal[j])


@njit(cache=True, nogil=True)
def form_groups(X, C, D, n_categories, ordinal, free, groups, totals, counts, counters, k, steps):
    """Carry out MDAV's loop at most `steps` times; close it when fewer than 3k are free.

    Counters: free records, groups so far. Returns whether every record has a group.
    """
    n_free, group = counters[0], counters[1]
    x, c = np.empty(X.shape[1]), np.empty(C.shape[1], dtype=np.int64)
    done = False
    for _ in range(steps):
        if n_free < 2 * k:
            for s in range(n_free):
                groups[free[s]] = group
            n_free, group, done = 0, group + 1, True
            break
        _average(totals, counts, n_categories, ordinal, n_free, x, c)
        x_r = _farthest(X, C, D, free, n_free, x, c)
        pair = n_free >= 3 * k
        x_s = _farthest(X, C, D, free, n_free, X[x_r], C[x_r]) if pair else x_r
        n_free = _close_group(X, C, D, free, n_free, x_r, k, groups, group, totals, counts)
        group += 1
        if pair:
            if groups[x_s] >= 0:
                x_s = _farthest(X, C, D, free, n_free, X[x_r], C[x_r])
            n_free = _close_group(X, C, D, free, n_free, x_s, k, groups, group, totals, counts)
            group += 1
        else:
            for s in range(n_free):
                groups[free[s]] = group
            n_free, group, done = 0, group + 1, True
            break
    counters[0], counters[1] = n_free, group
    return done


@njit(cache=True, nogil=True)
def group_categories(codes, groups, n_groups, n_categories, is_ordinal):
    """Return the median or mode category of each group."""
    counts = np.zeros((n_groups, n_categories), dtype=np.int64)
    sizes = np.zeros(n_groups, dtype=np.int64)
    for i in range(codes.size):
        counts[groups[i], codes[i]] += 1
        sizes[groups[i]] += 1
    result = np.empty(n_groups, dtype=np.int64)
    for g in range(n_groups):
        result[g] = middle_category(counts[g], n_categories, sizes[g], is_ordinal)
    return result
