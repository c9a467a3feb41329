"""Local suppression with many columns: each violator is made to agree with its nearest records.

Where there are too many sets of columns to try, the set is grown from the columns in which the
violator differs from the records most like it. Records are compared within blocks of similar ones,
which bounds the time; a count within a block never exceeds that in the file, so it is safe.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.mask import _local_suppression_nearest_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd

_LARGEST_BLOCK, _SMALLEST_BLOCK = 16_384, 2_048
_WORK = 20_000_000_000
"""Comparisons of values beyond which blocks get smaller."""
_STEP = 30_000_000
"""Comparisons between two chances to interrupt."""
_NEVER = 1e200
"""Stands for an infinite cost, which would make zero times infinity."""


def block_size(n_violators: int, n_columns: int) -> int:
    """Return how many records to compare each violator with."""
    affordable = _WORK // max(1, n_violators * n_columns)
    return max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, affordable))


def protect_by_nearest(
    crowd: Crowd, active: np.ndarray, k: int, costs: np.ndarray, advance: Callable[[float], None]
) -> np.ndarray:
    """Return what each violator must lose, given its row, for k records to equal it."""
    others = crowd.counts.copy()
    np.subtract.at(others, active, 1)
    untouched = np.flatnonzero(others)
    rows = np.concatenate([active, untouched, crowd.touched_rows]).astype(np.int64)
    counts = np.ones(len(rows), dtype=np.int64)
    counts[len(active) : len(active) + len(untouched)] = others[untouched]
    free = crowd.missing[rows]
    free[len(rows) - len(crowd.touched_rows) :] |= crowd.touched_blanks
    finite = np.where(np.isfinite(costs), costs, _NEVER)
    prices = kernel.price_list(finite)
    blanks = np.full(len(active), int((1 << np.flatnonzero(np.isfinite(costs))).sum()))
    for members in _blocks(crowd.rows[rows], costs, len(active)):
        block = kernel.Block(
            np.ascontiguousarray(crowd.rows[rows[members]].T),
            free[members], counts[members], finite, prices,
        )  # fmt: skip
        chosen = _protect(block, np.flatnonzero(members < len(active)), k, advance)
        found = chosen >= 0
        blanks[members[members < len(active)][found]] = chosen[found]
    return blanks


def _blocks(codes: np.ndarray, costs: np.ndarray, n_violators: int) -> list[np.ndarray]:
    """Sort records so that those agree first that must, or should, keep their values."""
    n_categories = codes.max(axis=0, initial=0)
    priority = np.lexsort((n_categories, -costs))
    order = np.lexsort(codes[:, priority[::-1]].T)
    return np.array_split(order, -(-len(order) // block_size(n_violators, codes.shape[1])))


def _protect(
    block: kernel.Block, violators: np.ndarray, k: int, advance: Callable[[float], None]
) -> np.ndarray:
    step = max(1, _STEP // block.codes.size)
    found = []
    for start in range(0, len(violators), step):
        part = violators[start : start + step]
        found.append(kernel.protect(block, part, k, _NEVER))
        advance(len(part))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
