"""Cutting the space of the keys (numba).

Symbols: ``points`` place of each record on each axis, records by axes; ``values`` confidential
value of each record, records by columns; ``axes`` holds ``positions``, ``climbs``, ``shares`` and
``is_tree`` of each axis (see `Axis`), padded to the widest; ``conditions`` those of
each column. A box is a run of consecutive records, from ``start`` to ``end``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from tacit.core.compiled import njit
from tacit.mask._privacy_models_kernel import meets_all

Arrays: TypeAlias = tuple[np.ndarray, ...]


def axis_arguments(axes: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Stack what the kernel needs of each axis."""
    width = max(len(axis.positions) for axis in axes)
    trees = [axis for axis in axes if axis.is_tree]
    n_levels = max((len(axis.shares) for axis in trees), default=1)
    n_leaves = max((axis.shares.shape[1] for axis in trees), default=1)
    positions = np.zeros((len(axes), width))
    climbs = np.zeros((len(axes), width), dtype=np.int32)
    shares = np.zeros((len(axes), n_levels, n_leaves))
    for j, axis in enumerate(axes):
        positions[j, : len(axis.positions)] = axis.positions
        climbs[j, : len(axis.climbs)] = axis.climbs
        if axis.is_tree:
            shares[j, : len(axis.shares), : axis.shares.shape[1]] = axis.shares
    return positions, climbs, shares, np.array([axis.is_tree for axis in axes])


def condition_arguments(columns: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Stack the limits and distributions of the confidential columns, with their sizes."""
    width = max((c.n_values for c in columns), default=1)
    height = max((len(c.widths) for c in columns), default=1)
    limits = np.zeros((len(columns), 7))
    q, Q, S = (np.zeros((len(columns), width)) for _ in range(3))
    parents = np.zeros((len(columns), height, width), dtype=np.int64)
    widths = np.ones((len(columns), height), dtype=np.int64)
    shape = np.zeros((len(columns), 2), dtype=np.int64)
    for j, column in enumerate(columns):
        n, h = column.n_values, len(column.widths)
        limits[j], q[j, :n], Q[j, :n], S[j, :n], parents[j, :h, :n], widths[j, :h] = (
            column.arguments
        )
        shape[j] = n, h
    return limits, q, Q, S, parents, widths, shape


@njit(cache=True)
def _holds(
    values: np.ndarray, start: int, end: int, conditions: Arrays, scratch: np.ndarray
) -> bool:
    """Whether the records of a box meet the conditions on confidential values."""
    limits, q, Q, S, parents, widths, shape = conditions
    for c in range(limits.shape[0]):
        n, h = shape[c]
        one = (limits[c], q[c, :n], Q[c, :n], S[c, :n], parents[c, :h], widths[c, :h])
        if not meets_all(values[start:end, c], one, scratch):
            return False
    return True


@njit(cache=True)
def _highest(climbs: np.ndarray, low: int, high: int) -> int:
    """Level of the lowest label that covers the values from low to high."""
    top = 0
    for c in range(low + 1, high + 1):
        top = max(top, climbs[c])
    return top


@njit(cache=True)
def _ascending(
    points: np.ndarray, start: int, end: int, axis: int, low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """Distinct places of a box on an axis, ascending, with their numbers of records."""
    size, width = end - start, high - low + 1
    if width <= 2 * size:
        counts = np.zeros(width, np.int64)
        for i in range(start, end):
            counts[points[i, axis] - low] += 1
        found = np.flatnonzero(counts)
        return found + low, counts[found]
    ordered = np.sort(points[start:end, axis].astype(np.int64))
    places, counts = np.empty(size, np.int64), np.zeros(size, np.int64)
    last = -1
    for place in ordered:
        if last < 0 or places[last] != place:
            last += 1
            places[last] = place
        counts[last] += 1
    return places[: last + 1], counts[: last + 1]


@njit(cache=True)
def _best_cut(
    points: np.ndarray,
    start: int,
    end: int,
    axis: int,
    low: int,
    high: int,
    k: int,
    climbs: np.ndarray,
    is_tree: bool,
) -> tuple[int, int]:
    """Last place of the lower half and its records, for the most even cut; -1 if there is none."""
    places, counts = _ascending(points, start, end, axis, low, high)
    size, top = end - start, _highest(climbs, low, high) if is_tree else 0
    best, at, n_lower, lower = size + 1, -1, 0, 0
    for i in range(places.size - 1):
        lower += counts[i]
        if lower < k or size - lower < k:
            continue
        if is_tree and _highest(climbs, places[i], places[i + 1]) < top:
            continue
        if abs(2 * lower - size) < best:
            best, at, n_lower = abs(2 * lower - size), places[i], lower
    return at, n_lower


@njit(cache=True)
def _median(
    points: np.ndarray, start: int, end: int, axis: int, low: int, high: int
) -> tuple[int, int]:
    """Place of the lower median, and how many records on it go to the lower half."""
    places, counts = _ascending(points, start, end, axis, low, high)
    half, below = (end - start) // 2, 0
    for i in range(places.size):
        if below + counts[i] >= half:
            return places[i], half - below
        below += counts[i]
    return places[-1], 0


@njit(cache=True)
def _divide(
    points: np.ndarray,
    order: np.ndarray,
    values: np.ndarray,
    start: int,
    end: int,
    axis: int,
    at: int,
    quota: int,
) -> int:
    """Put the records below `at`, and `quota` of those on it, first; return where they end."""
    place = start
    for i in range(start, end):
        code = points[i, axis]
        if code > at or (code == at and quota <= 0):
            continue
        if code == at:
            quota -= 1
        if i != place:
            order[i], order[place] = order[place], order[i]
            for j in range(points.shape[1]):
                points[i, j], points[place, j] = points[place, j], points[i, j]
            for j in range(values.shape[1]):
                values[i, j], values[place, j] = values[place, j], values[i, j]
        place += 1
    return place


@njit(cache=True)
def _extent(points: np.ndarray, start: int, end: int, axes: Arrays) -> Arrays:
    """Lowest and highest place of a box on each axis, and the share of the axis it spans."""
    positions, climbs, shares, is_tree = axes
    n_axes = points.shape[1]
    low, high = points[start].copy(), points[start].copy()
    for i in range(start, end):
        for j in range(n_axes):
            low[j], high[j] = min(low[j], points[i, j]), max(high[j], points[i, j])
    span = np.zeros(n_axes)
    for j in range(n_axes):
        if low[j] == high[j]:
            span[j] = -1.0
        elif is_tree[j]:
            span[j] = shares[j, _highest(climbs[j], low[j], high[j]), low[j]]
        else:
            span[j] = positions[j, high[j]] - positions[j, low[j]]
    return low, high, span


@njit(cache=True)
def cut(
    points: np.ndarray,
    order: np.ndarray,
    values: np.ndarray,
    k: int,
    strict: bool,
    axes: Arrays,
    conditions: Arrays,
) -> np.ndarray:
    """Cut the records into boxes, in place; return where each box starts, and the end.

    `points`, `order` and `values` are rearranged together.
    """
    n, climbs, is_tree = len(points), axes[1], axes[3]
    is_start = np.zeros(n + 1, np.bool_)
    is_start[n] = True
    scratch = np.zeros(conditions[1].shape[1], np.int64)
    waiting = [(0, n)]
    while len(waiting) > 0:
        start, end = waiting.pop()
        is_start[start] = True
        if end - start < 2 * k:
            continue
        low, high, span = _extent(points, start, end, axes)
        while True:
            axis = int(np.argmax(span))
            if span[axis] < 0:
                break
            span[axis] = -1.0
            if strict or is_tree[axis]:
                at, quota = _best_cut(
                    points, start, end, axis, low[axis], high[axis], k, climbs[axis], is_tree[axis]
                )
            else:
                at, quota = _median(points, start, end, axis, low[axis], high[axis])
            if at < 0:
                continue
            middle = _divide(points, order, values, start, end, axis, at, quota)
            if _holds(values, start, middle, conditions, scratch) and _holds(
                values, middle, end, conditions, scratch
            ):
                waiting.append((start, middle))
                waiting.append((middle, end))
                break
    return np.flatnonzero(is_start)
