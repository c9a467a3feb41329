"""Records split by stratum, in one pass whatever the number of strata."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.data import Microdata
from tacit.core.keys import encode, group_ids


def strata_of(data: Microdata, within: Sequence[str] | None) -> np.ndarray | None:
    """Return the number of each record's stratum, or None where no variable makes strata."""
    return group_ids(encode(data, within))[0] if within else None


def split_by(strata: np.ndarray | None, rows: np.ndarray) -> list[np.ndarray]:
    """Split records by their stratum; without strata they are one part, without records none.

    Parameters
    ----------
    strata
        Number of the stratum of every record of the file.
    rows
        The records to split, in ascending order; so are the records of each part.

    Examples
    --------
    >>> [part.tolist() for part in split_by(np.array([1, 0, 1, 5]), np.array([0, 1, 2]))]
    [[1], [0, 2]]
    """
    if not len(rows):
        return []
    if strata is None:
        return [rows]
    order = rows[np.argsort(strata[rows], kind="stable")]
    changes = np.flatnonzero(np.diff(strata[order])) + 1
    return np.split(order, changes)
