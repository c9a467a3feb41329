# mypy: ignore-errors
"""Graph work of the repair loop: batches, pieces of a change, cells that can move."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def batch_numbers(cells, amounts, indptr, indices, n_rows, ratio):
    """Put needs, largest first, into batches whose cells share no relation and whose sizes agree.

    Within a batch no amount is less than the first divided by `ratio`.
    """
    n = len(cells)
    number = np.full(n, -1, np.int64)
    stamp = np.full(n_rows, -1, np.int64)
    batch, start = 0, 0
    while start < n:
        end = start
        while end < n and amounts[end] >= amounts[start] / ratio:
            end += 1
        left = end - start
        while left > 0:
            for k in range(start, end):
                if number[k] >= 0:
                    continue
                c = cells[k]
                free = True
                for e in range(indptr[c], indptr[c + 1]):
                    if stamp[indices[e]] == batch:
                        free = False
                        break
                if free:
                    for e in range(indptr[c], indptr[c + 1]):
                        stamp[indices[e]] = batch
                    number[k] = batch
                    left -= 1
            batch += 1
        start = end
    return number


@njit(cache=True, nogil=True)
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True)
def piece_labels(support, indptr, indices, n_rows):
    """Label the moving cells so that cells joined by a chain of relations share a label."""
    n = len(support)
    parent = np.arange(n)
    first = np.full(n_rows, -1, np.int64)
    for k in range(n):
        c = support[k]
        for e in range(indptr[c], indptr[c + 1]):
            r = indices[e]
            if first[r] < 0:
                first[r] = k
            else:
                a, b = _root(parent, first[r]), _root(parent, k)
                if a < b:
                    parent[b] = a
                elif b < a:
                    parent[a] = b
    for k in range(n):
        parent[k] = _root(parent, k)
    return parent


@njit(cache=True, nogil=True)
def local_columns(cells, col_ptr, col_rows, col_data, row_name):
    """Return the columns of some cells with relations numbered anew; `row_name` is scratch, -1."""
    n = len(cells)
    size = 0
    for c in cells:
        size += col_ptr[c + 1] - col_ptr[c]
    indptr = np.zeros(n + 1, np.int32)
    rows = np.empty(size, np.int32)
    data = np.empty(size, np.float64)
    used = np.empty(size, np.int64)
    m = 0
    k = 0
    for j in range(n):
        c = cells[j]
        for e in range(col_ptr[c], col_ptr[c + 1]):
            r = col_rows[e]
            if row_name[r] < 0:
                row_name[r] = m
                used[m] = r
                m += 1
            rows[k] = row_name[r]
            data[k] = col_data[e]
            k += 1
        indptr[j + 1] = k
    for i in range(m):
        row_name[used[i]] = -1
    return indptr, rows, data, m


@njit(cache=True, nogil=True)
def proof_errors(ptr, cells, amounts, asked, col_ptr, col_rows, col_data, n_rows):
    """Return the largest miss of a relation in each proof, as a share of what is asked of it."""
    out = np.zeros(len(ptr) - 1)
    total = np.zeros(n_rows)
    for w in range(len(ptr) - 1):
        for k in range(ptr[w], ptr[w + 1]):
            c = cells[k]
            for e in range(col_ptr[c], col_ptr[c + 1]):
                total[col_rows[e]] += col_data[e] * amounts[k]
        worst = 0.0
        for k in range(ptr[w], ptr[w + 1]):
            c = cells[k]
            for e in range(col_ptr[c], col_ptr[c + 1]):
                worst = max(worst, abs(total[col_rows[e]]))
                total[col_rows[e]] = 0.0
        out[w] = worst / max(asked[w], 1e-300)
    return out


@njit(cache=True, nogil=True)
def movable(cells, col_ptr, col_rows, row_ptr, row_cells, n_cells, n_rows):
    """Return which of some cells can move when all others stay: none is alone in a relation."""
    inside = np.zeros(n_cells, np.bool_)
    count = np.zeros(n_rows, np.int64)
    for c in cells:
        inside[c] = True
        for e in range(col_ptr[c], col_ptr[c + 1]):
            count[col_rows[e]] += 1
    waiting = [np.int64(0)]
    waiting.pop()
    for c in cells:
        for e in range(col_ptr[c], col_ptr[c + 1]):
            if count[col_rows[e]] == 1:
                waiting.append(np.int64(col_rows[e]))
    while len(waiting) > 0:
        r = waiting.pop()
        for f in range(row_ptr[r], row_ptr[r + 1]):
            c = row_cells[f]
            if inside[c]:
                inside[c] = False
                for e in range(col_ptr[c], col_ptr[c + 1]):
                    count[col_rows[e]] -= 1
                    if count[col_rows[e]] == 1:
                        waiting.append(np.int64(col_rows[e]))
    kept = np.empty(len(cells), np.bool_)
    for k in range(len(cells)):
        kept[k] = inside[cells[k]]
    return kept
