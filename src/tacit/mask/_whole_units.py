"""Sums of attributes in whole units: the same in any order, so on any processor."""

from __future__ import annotations

import numpy as np

_BITS = 62
"""Bits for the sum of an attribute over all records."""


def whole_units(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of each row in whole units, and how many units make one.

    Taking a record out of such a sum leaves no rounding behind. Units are powers of two, the
    smallest with which the sum of all records fits into 63 bits.

    Examples
    --------
    >>> sums, scale = whole_units(np.array([[0.1, 0.2, -0.3], [1.0, 2.0, 3.0]]))
    >>> (sums / scale).round(15).tolist()
    [0.0, 6.0]
    """
    largest = np.maximum(X.max(axis=1, initial=0.0), -X.min(axis=1, initial=0.0))
    room = _BITS - X.shape[1].bit_length() - np.frexp(largest)[1]
    scale = np.ldexp(1.0, np.minimum(room, 1000))
    sums = [np.rint(row * unit).astype(np.int64).sum() for row, unit in zip(X, scale, strict=True)]
    return np.array(sums, dtype=np.int64), scale
