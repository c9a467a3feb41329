"""Protecting one violator after the other by its nearest records, on arrays (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

_STARTS = 8
"""Nearest records from which a set of columns is grown."""


class Block(NamedTuple):
    """Records that are compared with each other; `free` changes as they lose values."""

    codes: np.ndarray
    """Codes, one row per column so that a scan is one stream of memory."""
    free: np.ndarray
    """Pattern of each record's missing values."""
    counts: np.ndarray
    """How many records each entry stands for."""
    costs: np.ndarray
    """Cost of blanking a value of each column; very large for never."""


@njit(cache=True)
def _compare(block: Block, v: int, differs: np.ndarray, price: np.ndarray) -> None:
    """Write the columns in which each record differs from v, and what blanking them costs."""
    differs[:] = 0
    price[:] = 0
    for j in range(block.codes.shape[0]):
        if (block.free[v] >> j) & 1:
            continue
        codes, own, bit, cost = block.codes[j], block.codes[j, v], np.int64(1) << j, block.costs[j]
        for x in range(price.size):
            apart = codes[x] != own and not (block.free[x] & bit)
            differs[x] |= bit if apart else np.int64(0)
            price[x] += cost if apart else 0.0


@njit(cache=True)
def _nearest(price: np.ndarray, n_wanted: int) -> np.ndarray:
    """Return the records of the lowest prices, in order; ties go to the first."""
    found = np.empty(min(n_wanted, price.size), np.int64)
    n_found = 0
    for x in range(price.size):
        if n_found == found.size and price[x] >= price[found[n_found - 1]]:
            continue
        at = min(n_found, found.size - 1)
        n_found = min(n_found + 1, found.size)
        while at > 0 and price[found[at - 1]] > price[x]:
            found[at] = found[at - 1]
            at -= 1
        found[at] = x
    return found


@njit(cache=True, inline="always")
def _cost(pattern: int, costs: np.ndarray) -> float:
    total = 0.0
    for j in range(costs.size):
        if (pattern >> j) & 1:
            total += costs[j]
    return total


@njit(cache=True)
def _covered(pattern: int, differs: np.ndarray, counts: np.ndarray, near: np.ndarray) -> int:
    """Count the near records that differ in no other column than these."""
    total = 0
    for x in near:
        if not differs[x] & ~pattern:
            total += counts[x]
    return total


@njit(cache=True)
def _grown(start: int, differs: np.ndarray, block: Block, near: np.ndarray, k: int) -> int:
    """Add columns to a set, those of the cheapest record each time, until k records fit."""
    pattern = differs[start]
    while _covered(pattern, differs, block.counts, near) < k:
        best, least = -1, np.inf
        for x in near:
            extra = differs[x] & ~pattern
            if extra:
                cost = _cost(extra, block.costs)
                if cost < least:
                    best, least = x, cost
        if best < 0:
            return -1
        pattern |= differs[best]
    return pattern


@njit(cache=True)
def _pruned(pattern: int, differs: np.ndarray, block: Block, near: np.ndarray, k: int) -> int:
    """Take away the columns that are not needed, dear ones first."""
    for j in np.argsort(-block.costs):
        fewer = pattern & ~(np.int64(1) << j)
        if fewer != pattern and _covered(fewer, differs, block.counts, near) >= k:
            pattern = fewer
    return pattern


@njit(cache=True)
def _cheapest(differs: np.ndarray, price: np.ndarray, block: Block, k: int) -> int:
    """Return a cheap set of columns without which k records fit, -1 if there is none."""
    near = _nearest(price, max(48, 4 * k))
    if _covered(0, differs, block.counts, near) >= k:
        return 0
    best, least, tried = np.int64(-1), np.inf, 0
    for x in near:
        if not differs[x] or tried == _STARTS:
            continue
        tried += 1
        pattern = _grown(x, differs, block, near, k)
        if pattern >= 0:
            pattern = _pruned(pattern, differs, block, near, k)
            if _cost(pattern, block.costs) < least:
                best, least = pattern, _cost(pattern, block.costs)
    return best


@njit(cache=True)
def protect(block: Block, violators: np.ndarray, k: int, most: float) -> np.ndarray:
    """Blank a cheap set of columns in each violator that is not safe by then.

    Returns the set for each, -1 where none cheaper than `most` protects it.
    """
    differs = np.empty(block.counts.size, np.int64)
    price = np.empty(block.counts.size, np.float64)
    blanks = np.empty(violators.size, np.int64)
    for i in range(violators.size):
        v = violators[i]
        _compare(block, v, differs, price)
        blanks[i] = _cheapest(differs, price, block, k)
        if blanks[i] >= 0 and _cost(blanks[i], block.costs) >= most:
            blanks[i] = -1
        if blanks[i] > 0:
            block.free[v] |= blanks[i]
    return blanks
