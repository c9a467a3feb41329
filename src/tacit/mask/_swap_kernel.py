# mypy: ignore-errors
"""Swapping of ranks on arrays."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

TRIES = 8


@njit(cache=True, nogil=True)
def partners(n, window, draws):
    """Pair ranks 0..n-1 at random with ranks at most `window` above; -1 where none is free.

    `draws` holds one random number per rank and try. A free rank is found by guessing, since about
    half of the ranks ahead are free, and by looking at all of them if guessing fails.
    """
    partner = np.full(n, -1)
    for i in range(n):
        if partner[i] >= 0:
            continue
        ahead = min(window, n - 1 - i)
        if ahead < 1:
            continue
        found = -1
        for t in range(TRIES):
            j = i + 1 + int(draws[i, t] * ahead)
            if partner[j] < 0:
                found = j
                break
        if found < 0:
            found = _by_looking(partner, i, ahead, draws[i, 0])
        if found >= 0:
            partner[i], partner[found] = found, i
    return partner


@njit(cache=True, nogil=True)
def _by_looking(partner, i, ahead, draw):
    """Return a free rank among those ahead, each with the same chance, or -1."""
    n_free = 0
    for j in range(i + 1, i + 1 + ahead):
        if partner[j] < 0:
            n_free += 1
    if n_free == 0:
        return -1
    chosen = int(draw * n_free)
    for j in range(i + 1, i + 1 + ahead):
        if partner[j] < 0:
            if chosen == 0:
                return j
            chosen -= 1
    return -1


@njit(cache=True, nogil=True)
def shuffle_ties(order, ascending, draws):
    """Put the positions of equal values in random order, in place."""
    start = 0
    for end in range(1, order.size + 1):
        if end < order.size and ascending[end] == ascending[start]:
            continue
        for i in range(end - 1, start, -1):
            j = start + int(draws[i] * (i - start + 1))
            order[i], order[j] = order[j], order[i]
        start = end
