# mypy: ignore-errors
"""The cells around a cell among which it can move, everything farther away staying."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

UNSEEN, TAKEN = -1, -2
"""What stands for the number of relations missing of a cell not met yet, and of one in the ball."""
FEW = 32
"""Relations missing from which on cells are not told apart."""


@njit(cache=True, nogil=True)
def _grown(pool, n):
    """Return a pool with room for one more than `n`."""
    if n < len(pool):
        return pool
    larger = np.empty(2 * n + 16, pool.dtype)
    larger[:n] = pool[:n]
    return larger


@njit(cache=True, nogil=True)
def _next(heads, after, queued, missing):
    """Take the cell that waits longest among those with fewest relations missing; -1 if none."""
    for m in range(len(heads)):
        while heads[m] >= 0:
            cell = queued[heads[m]]
            heads[m] = after[heads[m]]
            if min(missing[cell], len(heads) - 1) == m:
                return cell
    return -1


@njit(cache=True, nogil=True)
def ball(start, is_open, col_ptr, col_rows, row_ptr, row_cells, missing, crossed, limit):
    """Return some cells and the open cells around them, at most about `limit`.

    The next cell is always one that brings in fewest new relations, so that what is found can move
    with all else staying: around a cell of a grid it is a box of codes. `missing` (-1 per cell) and
    `crossed` (0 per relation) are scratch space and are left so.
    """
    found = np.empty(limit + len(start), np.int64)
    n, n_start = 0, 0
    heads, tails = np.full(FEW, -1, np.int64), np.full(FEW, -1, np.int64)
    after, queued, n_queued = np.empty(limit, np.int64), np.empty(limit, np.int64), 0
    seen, n_seen = np.empty(limit, np.int64), 0
    lines, n_lines = np.empty(limit, np.int64), 0
    while True:
        if n_start < len(start):
            c = start[n_start]
            n_start += 1
            if missing[c] == TAKEN:
                continue
        elif n < limit:
            c = _next(heads, after, queued, missing)
        else:
            c = -1
        if c < 0:
            break
        if missing[c] == UNSEEN:
            seen = _grown(seen, n_seen)
            seen[n_seen] = c
            n_seen += 1
        missing[c] = TAKEN
        found[n] = c
        n += 1
        for e in range(col_ptr[c], col_ptr[c + 1]):
            r = col_rows[e]
            if crossed[r]:
                continue
            crossed[r] = 1
            lines = _grown(lines, n_lines)
            lines[n_lines] = r
            n_lines += 1
            for f in range(row_ptr[r], row_ptr[r + 1]):
                d = row_cells[f]
                if missing[d] == TAKEN or not is_open[d]:
                    continue
                if missing[d] == UNSEEN:
                    missing[d] = col_ptr[d + 1] - col_ptr[d]
                    seen = _grown(seen, n_seen)
                    seen[n_seen] = d
                    n_seen += 1
                missing[d] -= 1
                m = min(missing[d], FEW - 1)
                after, queued = _grown(after, n_queued), _grown(queued, n_queued)
                after[n_queued], queued[n_queued] = -1, d
                if heads[m] < 0:
                    heads[m] = n_queued
                else:
                    after[tails[m]] = n_queued
                tails[m] = n_queued
                n_queued += 1
    for k in range(n_seen):
        missing[seen[k]] = UNSEEN
    for k in range(n_lines):
        crossed[lines[k]] = 0
    return found[:n].copy()
