"""Sums over near neighbours on a grid, without looking at records that are far away.

Records are put in an order in which neighbours stay together (interleaved bits of their
coordinates) and cut into small blocks with bounding boxes, which are joined two by two to a tree.
"""

from __future__ import annotations

import numpy as np

from tacit.core.keys import group_ids

_BITS = 62
"""Bits of an interleaved code."""


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows and, for each row, which of them it is."""
    ids, n_groups = group_ids(rows)
    distinct = np.empty((n_groups, rows.shape[1]), dtype=rows.dtype)
    distinct[ids] = rows
    return distinct, ids


def near_totals(
    targets: np.ndarray, records: np.ndarray, weights: np.ndarray, factors: np.ndarray
) -> np.ndarray:
    """Sum, for each target, the weights of the records times their agreement.

    Coordinates are whole numbers from 0 up; ``factors[d]`` is the agreement of two that are d
    apart, and farther ones do not agree. Agreement is multiplied over coordinates.
    """
    from tacit.risk import _agreement_kernel as kernel

    if len(records) == 0:
        return np.zeros(len(targets))
    wanted, position = distinct_rows(targets)
    found, of_record = distinct_rows(records)
    amounts = np.bincount(of_record, weights=weights, minlength=len(found))
    order = _neighbourly_order(found)
    found = np.ascontiguousarray(found[order])
    low, high = _boxes(found, kernel.LEAF)
    totals = kernel.near_totals(wanted, found, amounts[order], low, high, factors)
    return np.asarray(totals[position])


def _neighbourly_order(places: np.ndarray) -> np.ndarray:
    """Order records by their first coordinate, then along a curve through the others."""
    others = places[:, 1:]
    n_bits = min(_BITS // max(others.shape[1], 1), 20)
    coarse = others - others.min(axis=0)
    shift = np.maximum(0, [int(top).bit_length() - n_bits for top in coarse.max(axis=0)])
    coarse >>= np.asarray(shift, dtype=np.int64)
    curve = np.zeros(len(places), dtype=np.int64)
    for bit in range(n_bits - 1, -1, -1):
        for c in range(coarse.shape[1]):
            curve = (curve << 1) | ((coarse[:, c] >> bit) & 1)
    return np.lexsort((curve, places[:, 0]))


def _boxes(places: np.ndarray, leaf: int) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper corners of the boxes of a binary tree over blocks of records."""
    starts = np.arange(0, len(places), leaf)
    n_leaves = 1 << (len(starts) - 1).bit_length()
    shape = (2 * n_leaves, places.shape[1])
    low = np.full(shape, np.iinfo(np.int64).max // 2)
    high = np.full(shape, np.iinfo(np.int64).min // 2)
    low[n_leaves : n_leaves + len(starts)] = np.minimum.reduceat(places, starts)
    high[n_leaves : n_leaves + len(starts)] = np.maximum.reduceat(places, starts)
    level = n_leaves
    while level > 1:
        half = level // 2
        low[half:level] = np.minimum(low[level : 2 * level : 2], low[level + 1 : 2 * level : 2])
        high[half:level] = np.maximum(high[level : 2 * level : 2], high[level + 1 : 2 * level : 2])
        level = half
    return low, high
