"""An index of released records, and an intruder's success among them, in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from tacit.core.keys import group_ids
from tacit.core.progress import track

_BLOCK = 1024
"""Targets looked up in one go."""


def distinct_points(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of one of each distinct rows, and which of them each row equals."""
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in points.T])
    ids, n_groups = group_ids(codes)
    first = np.empty(n_groups, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return first, ids


def held_once(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows, and how many rows each stands for."""
    first, ids = distinct_points(points)
    held = np.ascontiguousarray(points[first], dtype=np.float64)
    return held, np.bincount(ids).astype(np.float64)


class PointIndex:
    """Released records as points in a tree of boxes; records that are equal are held once."""

    def __init__(self, points: np.ndarray, n_measured: int, blank: np.ndarray) -> None:
        from tacit.risk import _linkage_kernel as kernel

        self._kernel = kernel
        self._blank = np.ascontiguousarray(blank, dtype=np.float64)
        self._n_measured = n_measured
        held, amounts = held_once(points)
        self._tree = kernel.build(held, n_measured)
        order = self._tree[0]
        self._points, self._amounts = held[order], amounts[order]

    def tied_at(self, targets: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Count the records at each target's squared radius; 0 where one is nearer."""
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        return in_blocks(
            lambda part: self._kernel.tied_at(
                targets[part], radius[part], self._points, self._amounts, self._tree,
                self._blank, self._n_measured,
            ),
            len(targets), "linking",
        )  # fmt: skip

    def nearest(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's squared distance to the nearest record."""
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        return in_blocks(
            lambda part: self._kernel.nearest(
                targets[part], self._points, self._tree, self._blank, self._n_measured
            ),
            len(targets), "nearest records",
        )  # fmt: skip

    def within_windows(
        self, targets: np.ndarray, floors: np.ndarray, ceilings: np.ndarray, radius: np.ndarray
    ) -> np.ndarray:
        """Count the records in each target's window: all, those nearer than its radius, tied."""
        arrays = [np.ascontiguousarray(a) for a in (targets, floors, ceilings)]
        return in_blocks(
            lambda part: self._kernel.within_windows(
                *(a[part] for a in arrays), radius[part], self._points, self._amounts, self._tree
            ),
            len(targets), "linking",
        )  # fmt: skip


def paired_distances(
    targets: np.ndarray, points: np.ndarray, n_measured: int, blank: np.ndarray
) -> np.ndarray:
    """Return the squared distance of each target to the record beside it."""
    from tacit.risk import _linkage_kernel as kernel

    plain = partial(np.ascontiguousarray, dtype=np.float64)
    return np.asarray(
        kernel.paired_distances(plain(targets), plain(points), plain(blank), n_measured)
    )


def in_blocks(work: Callable[[slice], np.ndarray], n: int, title: str) -> np.ndarray:
    """Do work on slices of 0..n-1, on all cores (the kernels release the lock), and join it."""
    slices = [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]
    if not slices:
        return work(slice(0, 0))
    results = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool, track(title, n) as advance:
        for part, result in zip(slices, pool.map(work, slices), strict=True):
            results.append(result)
            advance(part.stop - part.start)
    return np.concatenate(results)


def own_shares(
    at: np.ndarray, is_best: np.ndarray, n_tied: np.ndarray, n_originals: int
) -> np.ndarray:
    """Return each original's chance of a right link: its own best records among those tied.

    Parameters
    ----------
    at
        Original position of each true pair.
    is_best
        Whether the pair is the best one of its original.
    n_tied
        For each original, the released records that are as good, 0 if one is better.
    n_originals
        Number of original records; those without a released record have chance 0.
    """
    own = np.bincount(at[is_best], minlength=n_originals)
    share = np.divide(own, n_tied, out=np.zeros(n_originals), where=n_tied > 0)
    return np.asarray(share.clip(0.0, 1.0))
