"""Multiples of a base as exact decimals, so that three times 0.1 is 0.3."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

_MOST_DECIMALS = 12
"""Beyond this a base is no decimal number (1/3), and rounding its multiples would not help."""


def decimals_of(*numbers: float) -> int | None:
    """Return the decimals that the multiples of these numbers need, None if they have no end.

    Examples
    --------
    >>> decimals_of(0.25), decimals_of(10), decimals_of(1 / 3)
    (2, 0, None)
    """
    exponents = [Decimal(repr(float(n))).normalize().as_tuple().exponent for n in numbers]
    needed = max(-int(e) for e in exponents)
    return max(needed, 0) if needed <= _MOST_DECIMALS else None


def multiple(index: np.ndarray, base: float) -> np.ndarray:
    """Return ``index * base`` without the dust of binary fractions."""
    product = index * base
    decimals = decimals_of(base)
    return product if decimals is None else np.round(product, decimals)
