# mypy: ignore-errors
"""Gauss elimination on sparse relations, to find those that others do not imply."""

from __future__ import annotations

import heapq

import numpy as np

from tacit.core.compiled import njit
from tacit.tables._prime_kernel import PRIME, grown, inverse


@njit(cache=True, nogil=True)
def _reduced(heap, value, queued, pivot_of, start, pool_cells, pool_values):
    """Take rows before from a row until a cell without pivot comes first; return it, or -1."""
    while len(heap) > 0:
        c = heapq.heappop(heap)
        queued[c] = False
        if value[c] == 0:
            continue
        b = pivot_of[c]
        if b < 0:
            return c
        factor = PRIME - value[c]
        for e in range(start[b], start[b + 1]):
            d = pool_cells[e]
            value[d] = (value[d] + factor * pool_values[e]) % PRIME
            if not queued[d] and value[d] != 0:
                queued[d] = True
                heapq.heappush(heap, np.int64(d))
    return -1


@njit(cache=True, nogil=True)
def independent(indptr, cells, data, n_cells, most):
    """Return which rows are no combination of rows before them; all from `most` entries on."""
    n = len(indptr) - 1
    kept = np.ones(n, np.bool_)
    pivot_of = np.full(n_cells, -1, np.int64)
    start = np.zeros(n + 1, np.int64)
    pool_cells, pool_values = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int64)
    n_stored, used = 0, 0
    value = np.zeros(n_cells, np.int64)
    queued = np.zeros(n_cells, np.bool_)
    for row in range(n):
        heap = [np.int64(0)]
        heap.pop()
        for e in range(indptr[row], indptr[row + 1]):
            value[cells[e]] = np.int64(data[e]) % PRIME
            queued[cells[e]] = True
            heapq.heappush(heap, np.int64(cells[e]))
        pivot = _reduced(heap, value, queued, pivot_of, start, pool_cells, pool_values)
        if pivot < 0:
            kept[row] = False
            continue
        if used + len(heap) + 1 > most:
            return kept
        pool_cells = grown(pool_cells, used, len(heap) + 1)
        pool_values = grown(pool_values, used, len(heap) + 1)
        factor = inverse(value[pivot])
        pool_cells[used], pool_values[used] = pivot, 1
        used += 1
        value[pivot] = 0
        for c in heap:
            queued[c] = False
            if value[c] != 0:
                pool_cells[used], pool_values[used] = c, value[c] * factor % PRIME
                value[c] = 0
                used += 1
        pivot_of[pivot] = n_stored
        n_stored += 1
        start[n_stored] = used
    return kept
