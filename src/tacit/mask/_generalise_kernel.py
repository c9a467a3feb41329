"""Equivalence classes of generalised rows (numba).

Symbols: ``codes`` value of each distinct row, keys by rows; ``rows`` one row of each class of a
finer grouping; ``amounts`` records of each; ``maps`` label of each value at the chosen levels, keys
by values; ``radices`` number of labels of each key.
"""

from __future__ import annotations

import numpy as np

from tacit.core._keys_kernel import dense_ids
from tacit.core.compiled import njit

_LARGEST_PACK = 2**62
_SPARSE = 8
"""Packed keys that span at most this many times the rows are numbered by direct addressing."""


@njit(cache=True)
def _direct_ids(packed: np.ndarray, span: int) -> tuple[np.ndarray, int]:
    """Give each distinct value a number by a table of all possible values."""
    slots = np.full(span, -1, np.int32)
    ids = np.empty(packed.size, np.int64)
    found = 0
    for i in range(packed.size):
        if slots[packed[i]] < 0:
            slots[packed[i]] = found
            found += 1
        ids[i] = slots[packed[i]]
    return ids, found


@njit(cache=True)
def classes(
    codes: np.ndarray,
    rows: np.ndarray,
    amounts: np.ndarray,
    maps: np.ndarray,
    radices: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group rows that carry the same labels.

    Returns the class of each row, one row of each class and the number of records of each class.
    """
    n = rows.size
    packed, span = np.zeros(n, np.int64), 1
    for j in range(codes.shape[0]):
        radix = radices[j]
        if radix == 1:
            continue
        if span > _LARGEST_PACK // radix:
            packed, span = dense_ids(packed)
        column, mapping = codes[j], maps[j]
        for i in range(n):
            packed[i] = packed[i] * radix + mapping[column[rows[i]]]
        span *= radix
    if span <= _SPARSE * n + 1024:
        ids, found = _direct_ids(packed, span)
    else:
        ids, found = dense_ids(packed)
    first, sizes = np.full(found, -1, np.int64), np.zeros(found, np.int64)
    for i in range(n):
        if first[ids[i]] < 0:
            first[ids[i]] = rows[i]
        sizes[ids[i]] += amounts[i]
    return ids, first, sizes


@njit(cache=True)
def excess(
    codes: np.ndarray, first: np.ndarray, amounts: np.ndarray, losses: np.ndarray
) -> np.ndarray:
    """Sum, per key, what suppressed records lose beyond their labels' own loss.

    A suppressed value costs 1 in place of the loss of its label; `amounts` are suppressed records
    of each class.
    """
    totals = np.zeros(codes.shape[0])
    for g in range(first.size):
        if amounts[g] > 0:
            for j in range(codes.shape[0]):
                totals[j] += amounts[g] * (1.0 - losses[j, codes[j, first[g]]])
    return totals
