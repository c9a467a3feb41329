# mypy: ignore-errors
"""Ranks of whole numbers that lie close together, without sorting."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def ranks(values, known, low, n_possible):
    """Return the rank of each value among those that occur, -1 where it is missing.

    `known` says which values are there; it is empty where all are.
    """
    whole = known.size == 0
    number = np.zeros(n_possible, np.int32)
    for i in range(values.size):
        if whole or known[i]:
            number[values[i] - low] = 1
    found = 0
    for place in range(n_possible):
        if number[place]:
            number[place] = found
            found += 1
    codes = np.empty(values.size, np.int32)
    for i in range(values.size):
        codes[i] = number[values[i] - low] if whole or known[i] else -1
    return codes
