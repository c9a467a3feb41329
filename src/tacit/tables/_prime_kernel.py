# mypy: ignore-errors
"""Whole numbers modulo a prime, for Gauss elimination without rounding."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

PRIME = 2147483647
"""2**31 - 1: products of two remainders fit in 64 bits."""


@njit(cache=True, nogil=True)
def inverse(value):
    """Return the inverse modulo the prime, by Fermat's little theorem."""
    result, power, left = 1, value % PRIME, PRIME - 2
    while left > 0:
        if left & 1:
            result = result * power % PRIME
        power = power * power % PRIME
        left >>= 1
    return result


@njit(cache=True, nogil=True)
def grown(pool, used, more):
    """Return the pool, twice as long if it has no room for `more`."""
    if used + more <= len(pool):
        return pool
    new = np.empty(max(2 * len(pool), used + more), pool.dtype)
    new[:used] = pool[:used]
    return new
