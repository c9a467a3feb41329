# mypy: ignore-errors
"""Gauss elimination on sparse columns, in whole numbers modulo a prime."""

from __future__ import annotations

import heapq

import numpy as np

from tacit.core.compiled import njit
from tacit.tables._prime_kernel import PRIME, grown, inverse


@njit(cache=True, nogil=True)
def circuits(order, indptr, rows, data, n_rows, asked, most):
    """Add columns in order until each asked one depends on others; return what is needed.

    A column that others, added before, add up to closes a circuit; the columns of circuits that
    hold an asked column not yet in one are kept.

    Parameters
    ----------
    order
        Columns in the order they are added.
    indptr, rows, data
        The columns, sparse.
    n_rows
        Number of relations.
    asked
        Columns that must lie in a circuit.
    most
        Entries after which to give up.

    Returns
    -------
    kept, open
        Columns in the circuits, and asked columns in none; -1 in `open[0]` if it gave up.
    """
    n = len(indptr) - 1
    kept, safe = np.zeros(n, np.bool_), ~asked
    left = 0
    for j in range(n):
        left += not safe[j]
    pivot_of = np.full(n_rows, -1, np.int64)
    start = np.zeros(n + 1, np.int64)
    v_start = np.zeros(n + 1, np.int64)
    pool_rows, pool_values = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int64)
    v_cells, v_values = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int64)
    n_stored, used, v_used = 0, 0, 0
    value = np.zeros(n_rows, np.int64)
    queued = np.zeros(n_rows, np.bool_)
    weight = np.zeros(n, np.int64)
    listed = np.zeros(n, np.bool_)
    for j in order:
        if left == 0:
            break
        heap = [0]
        heap.pop()
        for e in range(indptr[j], indptr[j + 1]):
            r = rows[e]
            value[r] = np.int64(data[e]) % PRIME
            queued[r] = True
            heapq.heappush(heap, -np.int64(r))
        part = [np.int64(j)]
        weight[j], listed[j] = 1, True
        pivot = -1
        while len(heap) > 0:
            r = -heapq.heappop(heap)
            queued[r] = False
            if value[r] == 0:
                continue
            b = pivot_of[r]
            if b < 0:
                pivot = r
                break
            factor = PRIME - value[r]
            for e in range(start[b], start[b + 1]):
                s = pool_rows[e]
                value[s] = (value[s] + factor * pool_values[e]) % PRIME
                if not queued[s] and value[s] != 0:
                    queued[s] = True
                    heapq.heappush(heap, -np.int64(s))
            for e in range(v_start[b], v_start[b + 1]):
                c = v_cells[e]
                if not listed[c]:
                    listed[c] = True
                    part.append(np.int64(c))
                weight[c] = (weight[c] + factor * v_values[e]) % PRIME
        if pivot >= 0:
            # A new pivot: keep the reduced column, scaled to 1 there, and how it came about.
            scale = inverse(value[pivot])
            pool_rows = grown(pool_rows, used, len(heap) + 1)
            pool_values = grown(pool_values, used, len(heap) + 1)
            pool_rows[used], pool_values[used] = pivot, 1
            used += 1
            value[pivot] = 0
            for s in heap:
                r = -s
                queued[r] = False
                if value[r] != 0:
                    pool_rows[used] = r
                    pool_values[used] = value[r] * scale % PRIME
                    value[r] = 0
                    used += 1
            v_cells = grown(v_cells, v_used, len(part))
            v_values = grown(v_values, v_used, len(part))
            for c in part:
                if weight[c] != 0:
                    v_cells[v_used] = c
                    v_values[v_used] = weight[c] * scale % PRIME
                    v_used += 1
            pivot_of[pivot] = n_stored
            n_stored += 1
            start[n_stored], v_start[n_stored] = used, v_used
        else:
            useful = False
            for c in part:
                if weight[c] != 0 and not safe[c]:
                    useful = True
            if useful:
                for c in part:
                    if weight[c] != 0:
                        kept[c] = True
                        if not safe[c]:
                            safe[c] = True
                            left -= 1
        for c in part:
            weight[c] = 0
            listed[c] = False
        if used + v_used > most:
            return kept, np.full(1, -1, np.int64)
    return kept, np.flatnonzero(~safe)
