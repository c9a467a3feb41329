"""Mean of 1/F for a population frequency F with a negative binomial distribution (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_MANY = 32
"""Above this many records in the sample the series needs only a few terms."""
_SMALLEST_TERM = 1e-17


@njit(cache=True, inline="always")
def _by_recursion(f: int, p: float) -> float:
    """Go up from f = 1; errors shrink by p / q < 1 in each step."""
    odds = p / (1 - p)
    risk = -odds * np.log(p)
    for j in range(1, f):
        risk = odds * (1 / j - risk)
    return risk  # type: ignore[no-any-return]


@njit(cache=True, inline="always")
def _by_series(f: int, p: float) -> float:
    """Sum p / f * 2F1(1, 1; f + 1; 1 - p), whose terms are all positive."""
    q = 1 - p
    term, total, j = 1.0, 1.0, 0
    while term > _SMALLEST_TERM * total:
        term *= q * (j + 1) / (f + 1 + j)
        total += term
        j += 1
    return p / f * total


@njit(cache=True)
def mean_reciprocals(in_file: np.ndarray, inclusion: np.ndarray) -> np.ndarray:
    """Return E(1/F | f) for each record: f records of its key, each included with p = f / F."""
    risks = np.empty(in_file.size)
    for i in range(in_file.size):
        f, p = in_file[i], inclusion[i]
        if p >= 1:
            risks[i] = 1 / f
        elif p < 0.5 and f <= _MANY:
            risks[i] = _by_recursion(f, p)
        else:
            risks[i] = _by_series(f, p)
    return risks
