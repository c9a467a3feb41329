# mypy: ignore-errors
"""Bounds that relations put on changes: what certainly cannot move far enough is seen at once."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

GAIN = 0.01
"""Share by which a bound must tighten for its relations to be looked at again."""


@njit(cache=True, nogil=True)
def _sums(r, low, high, row_ptr, row_cells, row_data):
    """Return least and largest sum of a relation's terms, and how many of them are unbounded."""
    least, most, no_least, no_most = 0.0, 0.0, 0, 0
    for f in range(row_ptr[r], row_ptr[r + 1]):
        a, b = row_data[f] * low[row_cells[f]], row_data[f] * high[row_cells[f]]
        if a > b:
            a, b = b, a
        if a == -np.inf:
            no_least += 1
        else:
            least += a
        if b == np.inf:
            no_most += 1
        else:
            most += b
    return least, most, no_least, no_most


@njit(cache=True, nogil=True)
def _term_bounds(a, b, sums):
    """Return the bounds of a term with bounds a <= b, given that all terms sum to zero."""
    least, most, no_least, no_most = sums
    top, bottom = np.inf, -np.inf
    if no_least - (a == -np.inf) == 0:
        top = -(least - (a if a > -np.inf else 0.0))
    if no_most - (b == np.inf) == 0:
        bottom = -(most - (b if b < np.inf else 0.0))
    return bottom, top


@njit(cache=True, nogil=True)
def _gains(old, new):
    """Return whether a bound on a size has become smaller by more than a hair."""
    return new < np.inf if old == np.inf else new < old - GAIN * old


@njit(cache=True, nogil=True)
def tighten(seeds, low, high, need_up, need_down, col_ptr, col_rows, rows, queued, most):
    """Tighten bounds from the relations of some cells on, until little is gained.

    Parameters
    ----------
    seeds
        Cells whose bounds have just changed.
    low, high
        Bounds of each cell's change; tightened in place.
    need_up, need_down
        How far each cell must be able to move.
    col_ptr, col_rows, rows
        Relations of each cell; pointer, cells and weights of each relation.
    queued
        Scratch: a flag per relation, all off; left so.
    most
        Relations to look at before it stops.

    Returns
    -------
    short, cells, old_low, old_high
        Whether some cell cannot move as far as it must; the cells tightened and what they had.
    """
    row_ptr, row_cells, row_data = rows
    waiting = [np.int64(0)]
    waiting.pop()
    for c in seeds:
        for e in range(col_ptr[c], col_ptr[c + 1]):
            if not queued[col_rows[e]]:
                queued[col_rows[e]] = True
                waiting.append(np.int64(col_rows[e]))
    changed, old_low, old_high = [np.int64(0)], [0.0], [0.0]
    changed.pop()
    old_low.pop()
    old_high.pop()
    head, short = 0, False
    while head < len(waiting) and not short and head < most:
        r = waiting[head]
        head += 1
        queued[r] = False
        sums = _sums(r, low, high, row_ptr, row_cells, row_data)
        for f in range(row_ptr[r], row_ptr[r + 1]):
            c, w = row_cells[f], row_data[f]
            if low[c] == 0.0 and high[c] == 0.0:
                continue
            a, b = (w * low[c], w * high[c]) if w > 0 else (w * high[c], w * low[c])
            bottom, top = _term_bounds(a, b, sums)
            lo, hi = (bottom / w, top / w) if w > 0 else (top / w, bottom / w)
            # Rounding must not rule out what is possible: no change is always possible.
            lo, hi = min(lo, 0.0), max(hi, 0.0)
            if _gains(-low[c], -lo) or _gains(high[c], hi):
                changed.append(c)
                old_low.append(low[c])
                old_high.append(high[c])
                low[c], high[c] = max(lo, low[c]), min(hi, high[c])
                if high[c] < need_up[c] or -low[c] < need_down[c]:
                    short = True
                    break
                for e in range(col_ptr[c], col_ptr[c + 1]):
                    if not queued[col_rows[e]]:
                        queued[col_rows[e]] = True
                        waiting.append(np.int64(col_rows[e]))
    for k in range(head, len(waiting)):
        queued[waiting[k]] = False
    n = len(changed)
    cells, lows, highs = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for k in range(n):
        cells[k], lows[k], highs[k] = changed[k], old_low[k], old_high[k]
    return short, cells, lows, highs
