# mypy: ignore-errors
"""Random changes of categories on arrays."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def drawn(codes, draws, bounds, n_codes):
    """Return the new code of each record.

    `bounds` holds the cumulated probabilities of row r of the matrix between r and r + 1, row after
    row. Most records stay as they are, so their own place is looked at before any search.
    """
    out = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        code = codes[i]
        target = draws[i] + code
        first = code * n_codes
        own = first + code
        if target < bounds[own] and (code == 0 or bounds[own - 1] <= target):
            out[i] = code
            continue
        low, high = first, first + n_codes - 1
        while low < high:
            middle = (low + high) // 2
            if bounds[middle] <= target:
                low = middle + 1
            else:
                high = middle
        out[i] = low - first
    return out
