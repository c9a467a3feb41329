# mypy: ignore-errors
"""Runs of equal values in an order (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def order_ties(order, ascending):
    """Put the positions of equal values in ascending order, in place."""
    start = 0
    for end in range(1, order.size + 1):
        if end < order.size and ascending[end] == ascending[start]:
            continue
        if end - start > 1:
            order[start:end] = np.sort(order[start:end])
        start = end


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


@njit(cache=True, nogil=True)
def middle_ranks(values, order):
    """Return the rank of each value, from 1, the middle one of equal values."""
    ranks = np.empty(values.size)
    start = 0
    for end in range(1, order.size + 1):
        if end < order.size and values[order[end]] == values[order[start]]:
            continue
        middle = (start + 1 + end) / 2.0
        for i in range(start, end):
            ranks[order[i]] = middle
        start = end
    return ranks
