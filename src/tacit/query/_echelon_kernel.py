# mypy: ignore-errors
"""Reduced echelon form modulo a prime, one query at a time (chin1982).

Symbols: p is a prime between 2^30 and 2^31; rows[i, :n_free] holds row i at the free columns, its
pivot column being 1 there and 0 elsewhere, and so not stored; v are random vectors of the null
space, one coordinate per column: a column is determined just when all its coordinates are 0.
Products are reduced as Montgomery does: with R = 2^32, m(aR, b) = ab mod p.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


@njit(cache=True, inline="always")
def _montgomery(a, b, p, n_inverse):
    t = a * b
    u = (t + ((t & _MASK) * n_inverse & _MASK) * p) >> _SHIFT
    return u - p if u >= p else u


@njit(cache=True, nogil=True)
def _subtract(target, source, n, factor, p, n_inverse):
    """target[:n] -= factor * source[:n] modulo p."""
    raised = (np.uint64(factor) << _SHIFT) % p
    for j in range(n):
        x = _montgomery(raised, np.uint64(source[j]), p, n_inverse)
        y = np.uint64(target[j]) + p - x
        target[j] = np.uint32(y - p if y >= p else y)


@njit(cache=True, nogil=True)
def reduce_query(query, at_pivots, rows, n_rows, n_free, p, n_inverse):
    """Take from the query what the rows say of it; what is left, at the free columns, is new."""
    left = query.copy()
    for i in range(n_rows):
        if at_pivots[i] != 0:
            _subtract(left, rows[i], n_free, at_pivots[i], p, n_inverse)
    return left


@njit(cache=True, nogil=True)
def eliminate(rows, n_rows, n_free, new, at, p, n_inverse):
    """Clear the column `at` from all rows with the help of the new row, which has a 1 there.

    The last free column then takes the place of the new pivot.
    """
    last = n_free - 1
    for i in range(n_rows):
        factor = rows[i, at]
        if factor != 0:
            _subtract(rows[i], new, n_free, factor, p, n_inverse)
        rows[i, at] = rows[i, last]


@njit(cache=True, nogil=True)
def multiply(a, b, p):
    """Return the products of two arrays modulo p."""
    out = np.empty(a.size, np.uint64)
    for i in range(a.size):
        out[i] = np.uint64(a[i]) * np.uint64(b[i]) % p
    return out


@njit(cache=True, nogil=True)
def inverses(a, p):
    """Return the inverses modulo p by Fermat; that of 0 is 0."""
    out = np.empty(a.size, np.uint64)
    for i in range(a.size):
        base, power, e = np.uint64(a[i]), np.uint64(1), p - np.uint64(2)
        while e > 0:
            if e & np.uint64(1):
                power = power * base % p
            base = base * base % p
            e >>= np.uint64(1)
        out[i] = power
    return out
