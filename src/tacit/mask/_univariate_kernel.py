# mypy: ignore-errors
"""Optimal groups of sorted numbers, by dynamic programming."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def optimal_cuts(values, k):
    """Return the group of each of the sorted `values`; groups of k to 2k - 1, least SSE.

    D(j) = min over k <= j - i < 2k of D(i) + SSE(i..j), the shortest path of Hansen and Mukherjee
    (2003), in O(kn). SSE comes from running sums of the values less their middle, so that large
    numbers with small differences keep their digits.
    """
    n = values.size
    middle = values[n // 2]
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        centred = values[i] - middle
        sums[i + 1] = sums[i] + centred
        squares[i + 1] = squares[i] + centred * centred
    best = np.full(n + 1, np.inf)
    cut = np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    for j in range(k, n + 1):
        for i in range(max(0, j - 2 * k + 1), j - k + 1):
            total = sums[j] - sums[i]
            cost = best[i] + squares[j] - squares[i] - total * total / (j - i)
            if cost < best[j]:
                best[j], cut[j] = cost, i
    groups = np.empty(n, dtype=np.int64)
    group, j = 0, n
    while j > 0:
        for i in range(cut[j], j):
            groups[i] = group
        group += 1
        j = cut[j]
    return groups


@njit(cache=True, nogil=True)
def fixed_cuts(n, k):
    """Return groups of exactly k in order, the rest added to the last group."""
    groups = np.empty(n, dtype=np.int64)
    n_groups = max(n // k, 1)
    for i in range(n):
        groups[i] = min(i // k, n_groups - 1)
    return groups
