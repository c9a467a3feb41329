"""Groups of records that follow each other in some order."""

from __future__ import annotations

import numpy as np


def groups_in_order(values: np.ndarray, k: int, *, optimal: bool) -> np.ndarray:
    """Group numbers that lie next to each other: optimally, or by k in turn.

    Parameters
    ----------
    values
        One number per record; at least `k` of them.
    k
        Smallest group.
    optimal
        Least within-groups sum of squares, with groups of k to 2k - 1; otherwise groups of k.
    """
    from tacit.mask import _univariate_kernel as kernel

    order = np.argsort(values, kind="stable")
    if optimal and len(values) >= 2 * k:
        in_order = kernel.optimal_cuts(values[order], k)
    else:
        in_order = kernel.fixed_cuts(len(values), k)
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = in_order
    return groups
