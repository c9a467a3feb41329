# mypy: ignore-errors
"""Swapping of ranks on arrays."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_TRIES = 8
_MOST_LOOKED_AT = 4096
"""Ranks looked at where guessing has failed, so that tight bounds do not make it quadratic."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True, inline="always")
def _uniform(seed, t):
    """Return the t-th number in [0, 1) that follows from 64 random bits (splitmix64)."""
    z = seed + np.uint64(t + 1) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def partners(n, window, seeds, lowest, highest):
    """Pair ranks 0..n-1 at random with ranks at most `window` above; a rank alone with itself.

    `seeds` holds 64 random bits per rank. A free rank is found by guessing, since about half of the
    ranks ahead are free, and by looking at them if guessing fails. Where they are not empty,
    `lowest` and `highest` say which ranks each rank may be paired with; each may keep its own.
    """
    partner = np.arange(n)
    free = np.ones(n, np.bool_)
    limited = lowest.size > 0
    for i in range(n):
        if not free[i]:
            continue
        reach = min(i + window, n - 1)
        if limited:
            reach = min(reach, highest[i])
        found = -1
        for t in range(_TRIES if reach > i else 0):
            j = i + 1 + int(_uniform(seeds[i], t) * (reach - i))
            if free[j] and (not limited or lowest[j] <= i):
                found = j
                break
        if found < 0 and reach > i:
            found = _by_looking(free, i, reach, lowest, seeds[i])
        if found >= 0:
            partner[i], partner[found] = found, i
            free[i], free[found] = False, False
    return partner


@njit(cache=True, nogil=True)
def _by_looking(free, i, reach, lowest, seed):
    """Return a free rank ahead, each in a stretch of them with the same chance, or -1."""
    length = min(reach - i, _MOST_LOOKED_AT)
    start = i + 1 + int(_uniform(seed, _TRIES) * (reach - i - length + 1))
    limited, n_free = lowest.size > 0, 0
    for j in range(start, start + length):
        n_free += free[j] and (not limited or lowest[j] <= i)
    if n_free == 0:
        return -1
    chosen = int(_uniform(seed, _TRIES + 1) * n_free)
    for j in range(start, start + length):
        if free[j] and (not limited or lowest[j] <= i):
            if chosen == 0:
                return j
            chosen -= 1
    return -1
