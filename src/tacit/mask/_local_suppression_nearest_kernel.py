"""Protecting one violator after the other by its nearest records, on arrays (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit

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
    prices: np.ndarray
    """The same for patterns of columns, see `price_list`."""


@njit(cache=True)
def price_list(costs: np.ndarray) -> np.ndarray:
    """Cost of every pattern of eight neighbouring columns, eight after eight."""
    prices = np.zeros((-(-costs.size // 8), 256))
    for j in range(costs.size):
        for pattern in range(256):
            if (pattern >> (j % 8)) & 1:
                prices[j // 8, pattern] += costs[j]
    return prices


@njit(cache=True, inline="always")
def _cost(pattern: int, prices: np.ndarray) -> float:
    total = 0.0
    for part in range(prices.shape[0]):
        total += prices[part, (pattern >> (8 * part)) & 255]
    return total


@njit(cache=True)
def _compare(block: Block, v: int, differs: np.ndarray, price: np.ndarray) -> None:
    """Write the columns in which each record differs from v, and what blanking them costs."""
    differs[:] = 0
    for j in range(block.codes.shape[0]):
        codes, own = block.codes[j], block.codes[j, v]
        for x in range(differs.size):
            differs[x] |= np.int64(codes[x] != own) << j
    for x in range(differs.size):
        differs[x] &= ~(block.free[x] | block.free[v])
        price[x] = _cost(differs[x], block.prices)


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
    pattern: int = differs[start]
    while _covered(pattern, differs, block.counts, near) < k:
        best, least = -1, np.inf
        for x in near:
            extra = differs[x] & ~pattern
            if extra:
                cost = _cost(extra, block.prices)
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
    best, least, tried = -1, np.inf, 0
    for x in near:
        if not differs[x] or tried == _STARTS:
            continue
        tried += 1
        pattern = _grown(x, differs, block, near, k)
        if pattern >= 0:
            pattern = _pruned(pattern, differs, block, near, k)
            if _cost(pattern, block.prices) < least:
                best, least = pattern, _cost(pattern, block.prices)
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
        if blanks[i] >= 0 and _cost(blanks[i], block.prices) >= most:
            blanks[i] = -1
        if blanks[i] > 0:
            block.free[v] |= blanks[i]
    return blanks
