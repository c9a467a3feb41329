"""Sums of normal agreement between places on a grid, over a hierarchy of boxes (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

LEAF = 16
"""Records in one box of the lowest level."""


@njit(cache=True, inline="always")
def _is_in_reach(place: np.ndarray, low: np.ndarray, high: np.ndarray, reach: int) -> bool:
    for c in range(place.size):
        if place[c] < low[c] - reach or place[c] > high[c] + reach:
            return False
    return True


@njit(cache=True, inline="always")
def _agreement(a: np.ndarray, b: np.ndarray, factors: np.ndarray) -> float:
    """Product over coordinates of the factor for their distance; 0 if one is out of reach."""
    product = 1.0
    for c in range(a.size):
        distance = abs(a[c] - b[c])
        if distance >= factors.size:
            return 0.0
        product *= factors[distance]
    return product


@njit(cache=True)
def near_totals(
    targets: np.ndarray,
    records: np.ndarray,
    weights: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    factors: np.ndarray,
) -> np.ndarray:
    """Sum, for each target, the weights of the records times their agreement.

    ``factors[d]`` is the agreement of two coordinates d steps apart; farther ones do not agree.
    Boxes form a binary tree in one array: box 1 holds all, boxes ``2b`` and ``2b + 1`` halve box
    b, and the last half of the boxes hold `LEAF` records each, in order.
    """
    n_leaves = low.shape[0] // 2
    totals = np.zeros(targets.shape[0])
    waiting = np.empty(128, np.int64)
    for i in range(targets.shape[0]):
        waiting[0] = 1
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            box = waiting[n_waiting]
            if not _is_in_reach(targets[i], low[box], high[box], factors.size - 1):
                continue
            if box < n_leaves:
                waiting[n_waiting] = 2 * box
                waiting[n_waiting + 1] = 2 * box + 1
                n_waiting += 2
                continue
            first = (box - n_leaves) * LEAF
            for k in range(first, min(first + LEAF, records.shape[0])):
                totals[i] += weights[k] * _agreement(targets[i], records[k], factors)
    return totals
