"""Classes of records that share their keys."""

from __future__ import annotations

import numpy as np


def first_of(ids: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the first record of each group.

    Examples
    --------
    >>> first_of(np.array([0, 1, 0, 2]), 3).tolist()
    [0, 1, 3]
    """
    first = np.empty(n_groups, dtype=np.int64)
    # The last of equal positions is written last, so from the end the first one stays.
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return first
