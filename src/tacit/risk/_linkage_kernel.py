"""Searches among points in a binary tree of boxes (numba).

Columns before `n_measured` are numbers whose squared differences count; the others are codes that
differ by 0 or 1. A value missing on either side counts ``blank[c]``.

Box 1 holds all points, boxes ``2b`` and ``2b + 1`` halve box b, and the last half of the boxes are
leaves. Box b holds the points from ``starts[b]`` to ``ends[b]``.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

A = np.ndarray
Tree = tuple[A, A, A, A, A]
"""Order of the points, first and last point of each box, lower and upper corners."""

LEAF = 24
"""Largest number of points in a leaf."""
RELATIVE, ABSOLUTE = 1e-9, 1e-18
"""Squared distances nearer to each other than this are tied."""


@njit(cache=True, nogil=True)
def _widest(points: A, order: A, start: int, end: int, n_measured: int) -> int:
    """Return the column along which the points of a box differ most."""
    best, widest = 0, -1.0
    for c in range(points.shape[1]):
        total, squares, n_known = 0.0, 0.0, 0
        varies = False
        first = points[order[start], c]
        for i in range(start, end):
            value = points[order[i], c]
            if value == value:
                n_known += 1
                total += value - first if first == first else value
                squares += (value - first) ** 2 if first == first else value**2
                varies = varies or value != first
        if c >= n_measured:
            spread = 0.5 if varies else 0.0
        else:
            spread = squares / max(n_known, 1) - (total / max(n_known, 1)) ** 2
        if spread > widest:
            best, widest = c, spread
    return best


@njit(cache=True, nogil=True)
def build(points: A, n_measured: int) -> Tree:
    """Return an order of the points in which boxes are slices, and the boxes' corners."""
    n_points, n_columns = points.shape
    n_leaves = 1
    while n_leaves * LEAF < n_points:
        n_leaves *= 2
    order = np.arange(n_points)
    starts, ends = np.zeros(2 * n_leaves, np.int64), np.zeros(2 * n_leaves, np.int64)
    ends[1] = n_points
    for box in range(1, n_leaves):
        start, end = starts[box], ends[box]
        axis = _widest(points, order, start, end, n_measured)
        part = order[start:end].copy()
        order[start:end] = part[np.argsort(points[part, axis])]
        middle = (start + end) // 2
        starts[2 * box], ends[2 * box] = start, middle
        starts[2 * box + 1], ends[2 * box + 1] = middle, end
    low = np.full((2 * n_leaves, n_columns), np.inf)
    high = np.full((2 * n_leaves, n_columns), -np.inf)
    for box in range(2 * n_leaves - 1, 0, -1):
        for c in range(n_columns):
            if box < n_leaves:
                low[box, c] = min(low[2 * box, c], low[2 * box + 1, c])
                high[box, c] = max(high[2 * box, c], high[2 * box + 1, c])
                continue
            for i in range(starts[box], ends[box]):
                value = points[order[i], c]
                if value == value:
                    low[box, c] = min(low[box, c], value)
                    high[box, c] = max(high[box, c], value)
                else:
                    # A missing value may be anywhere.
                    low[box, c], high[box, c] = -np.inf, np.inf
    return order, starts, ends, low, high


@njit(cache=True, nogil=True)
def _distance(x: A, y: A, blank: A, n_measured: int, limit: float) -> float:
    """Squared distance, or any number above `limit` once it is known to be above."""
    total = 0.0
    for c in range(n_measured):
        gap = x[c] - y[c]
        total += gap * gap if gap == gap else blank[c]
        if total > limit:
            return float(total)
    for c in range(n_measured, x.size):
        if x[c] != x[c] or y[c] != y[c]:
            total += blank[c]
        elif x[c] != y[c]:
            total += 1.0
    return total


@njit(cache=True, nogil=True)
def _bound(x: A, low: A, high: A, blank: A, n_measured: int, limit: float) -> float:
    """Least squared distance from a point to any point of a box."""
    total = 0.0
    for c in range(n_measured):
        if x[c] < low[c]:
            total += (low[c] - x[c]) ** 2
        elif x[c] > high[c]:
            total += (x[c] - high[c]) ** 2
        elif x[c] != x[c]:
            total += blank[c]
        if total > limit:
            return float(total)
    for c in range(n_measured, x.size):
        if x[c] != x[c]:
            total += blank[c]
        elif x[c] < low[c] or x[c] > high[c]:
            total += 1.0
    return total


@njit(cache=True, nogil=True)
def paired_distances(targets: A, points: A, blank: A, n_measured: int) -> A:
    """Squared distance of each target to the point beside it."""
    found = np.empty(targets.shape[0])
    for i in range(targets.shape[0]):
        found[i] = _distance(targets[i], points[i], blank, n_measured, np.inf)
    return found


@njit(cache=True, nogil=True)
def tied_at(
    targets: A, radius: A, points: A, amounts: A, tree: Tree, blank: A, n_measured: int
) -> A:
    """Count the points at each target's radius; 0 as soon as one point is nearer than that."""
    _, starts, ends, low, high = tree
    n_leaves = starts.size // 2
    tied = np.zeros(targets.shape[0])
    waiting = np.empty(128, np.int64)
    for i in range(targets.shape[0]):
        x = targets[i]
        outer = radius[i] * (1 + RELATIVE) + ABSOLUTE
        inner = radius[i] * (1 - RELATIVE) - ABSOLUTE
        waiting[0], n_waiting, count = 1, 1, 0.0
        while n_waiting > 0:
            n_waiting -= 1
            box = waiting[n_waiting]
            if box >= n_leaves:
                for k in range(starts[box], ends[box]):
                    distance = _distance(x, points[k], blank, n_measured, outer)
                    if distance < inner:
                        count, n_waiting = -1.0, 0
                        break
                    if distance <= outer:
                        count += amounts[k]
                continue
            left = _bound(x, low[2 * box], high[2 * box], blank, n_measured, outer)
            right = _bound(x, low[2 * box + 1], high[2 * box + 1], blank, n_measured, outer)
            first, second = (2 * box + 1, 2 * box) if left <= right else (2 * box, 2 * box + 1)
            # The nearer half is pushed last and so looked at first.
            if max(left, right) <= outer:
                waiting[n_waiting] = first
                n_waiting += 1
            if min(left, right) <= outer:
                waiting[n_waiting] = second
                n_waiting += 1
        tied[i] = max(count, 0.0)
    return tied


@njit(cache=True, nogil=True)
def nearest(targets: A, points: A, tree: Tree, blank: A, n_measured: int) -> A:
    """Squared distance of each target to the nearest point."""
    _, starts, ends, low, high = tree
    n_leaves = starts.size // 2
    found = np.empty(targets.shape[0])
    waiting, bounds = np.empty(128, np.int64), np.empty(128)
    for i in range(targets.shape[0]):
        x, best = targets[i], np.inf
        waiting[0], bounds[0], n_waiting = 1, 0.0, 1
        while n_waiting > 0:
            n_waiting -= 1
            box = waiting[n_waiting]
            if bounds[n_waiting] >= best:
                continue
            if box >= n_leaves:
                for k in range(starts[box], ends[box]):
                    best = min(best, _distance(x, points[k], blank, n_measured, best))
                continue
            left = _bound(x, low[2 * box], high[2 * box], blank, n_measured, best)
            right = _bound(x, low[2 * box + 1], high[2 * box + 1], blank, n_measured, best)
            nearer = 2 * box if left <= right else 2 * box + 1
            waiting[n_waiting], bounds[n_waiting] = nearer ^ 1, max(left, right)
            waiting[n_waiting + 1], bounds[n_waiting + 1] = nearer, min(left, right)
            n_waiting += 2
        found[i] = best
    return found


@njit(cache=True, nogil=True)
def _is_apart(floor: A, ceiling: A, low: A, high: A) -> bool:
    for c in range(low.size):
        if high[c] < floor[c] or low[c] > ceiling[c]:
            return True
    return False


@njit(cache=True, nogil=True)
def within_windows(
    targets: A, floors: A, ceilings: A, radius: A, points: A, amounts: A, tree: Tree
) -> A:
    """Count the points inside each target's window: all, nearer than its radius, and tied at it.

    A missing coordinate of a point is inside any window and counts nothing for the distance.
    """
    _, starts, ends, low, high = tree
    n_leaves = starts.size // 2
    n_targets, n_columns = targets.shape
    counts = np.zeros((n_targets, 3))
    waiting = np.empty(128, np.int64)
    for i in range(n_targets):
        outer = radius[i] * (1 + RELATIVE) + ABSOLUTE
        inner = radius[i] * (1 - RELATIVE) - ABSOLUTE
        waiting[0], n_waiting = 1, 1
        while n_waiting > 0:
            n_waiting -= 1
            box = waiting[n_waiting]
            if _is_apart(floors[i], ceilings[i], low[box], high[box]):
                continue
            if box < n_leaves:
                waiting[n_waiting], waiting[n_waiting + 1] = 2 * box, 2 * box + 1
                n_waiting += 2
                continue
            for k in range(starts[box], ends[box]):
                distance, is_inside = 0.0, True
                for c in range(n_columns):
                    value = points[k, c]
                    if value < floors[i, c] or value > ceilings[i, c]:
                        is_inside = False
                        break
                    gap = value - targets[i, c]
                    if gap == gap:
                        distance += gap * gap
                if is_inside:
                    counts[i, 0] += amounts[k]
                    if distance < inner:
                        counts[i, 1] += amounts[k]
                    elif distance <= outer:
                        counts[i, 2] += amounts[k]
    return counts
