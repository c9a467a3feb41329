"""Sums of normal agreement between numbers on a grid (numba)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def near_totals(
    groups: np.ndarray,
    targets: np.ndarray,
    starts: np.ndarray,
    records: np.ndarray,
    weights: np.ndarray,
    factors: np.ndarray,
) -> np.ndarray:
    """Sum, for each target, the weights of the records of its group times their agreement.

    `records` (records by fields) are ordered by group and then by their first field;
    ``starts[g]:starts[g + 1]`` are those of group g. ``factors[d]`` is the agreement of two places
    that are d grid steps apart; farther places do not agree.
    """
    reach = factors.size - 1
    totals = np.zeros(targets.shape[0])
    for i in range(targets.shape[0]):
        end = starts[groups[i] + 1]
        first = targets[i, 0]
        begin = starts[groups[i]]
        begin += np.searchsorted(records[begin:end, 0], first - reach)
        for k in range(begin, end):
            if records[k, 0] > first + reach:
                break
            product = weights[k]
            for c in range(records.shape[1]):
                distance = abs(records[k, c] - targets[i, c])
                if distance > reach:
                    product = 0.0
                    break
                product *= factors[distance]
            totals[i] += product
    return totals
