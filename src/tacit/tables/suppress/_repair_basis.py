"""The few cells that determine all others, and the sums of them that the others are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEVELS = 64
"""Levels of sums of sums after which relations are taken to go round in circles."""
MOST_TIES = 8_000_000
"""Ties among the finest cells, times these cells, up to which they are solved."""
TINY = 1e-9
"""Numbers below this come from rounding: relations are sums."""


def determining_cells(rows: csr_array) -> csr_array | None:
    """Return every cell as a combination of a few cells that can change freely.

    Parameters
    ----------
    rows
        Relations by cells, -1 at the total.

    Returns
    -------
    csr_array or None
        Cells by free cells: whatever the free cells change by, these combinations keep all
        relations, and there are no other changes that do. None where that is not found cheaply.
    """
    from scipy.sparse import csr_array

    leaves, sums = _finest(rows)
    if sums is None:
        return None
    ties = csr_array(rows @ sums)
    ties.eliminate_zeros()
    tied = np.unique(np.diff(ties.indptr).nonzero()[0])
    if len(tied) * len(leaves) > MOST_TIES:
        return None
    if len(tied):
        sums = csr_array(sums @ csr_array(_kernel(ties[tied, :].toarray())))
    sums.data[np.abs(sums.data) < TINY] = 0.0
    sums.eliminate_zeros()
    left = rows @ sums
    return sums if left.nnz == 0 or np.abs(left.data).max() < TINY else None


def _finest(rows: csr_array) -> tuple[np.ndarray, csr_array | None]:
    """Return the cells that are no total, and all cells as sums of them, by one sum per total."""
    from scipy.sparse import csr_array

    n = rows.shape[1]
    negative = csr_array(rows < 0)
    one = np.flatnonzero(np.diff(negative.indptr) == 1)
    total, first = np.unique(negative[one, :].indices, return_index=True)
    chosen = rows[one[first], :].tocoo()
    relation, cell = chosen.coords
    positive = chosen.data > 0
    at = total[relation[positive]], cell[positive]
    parts = csr_array((chosen.data[positive], at), shape=(n, n))
    leaves = np.setdiff1d(np.arange(n), total)
    term = csr_array(
        (np.ones(len(leaves)), (leaves, np.arange(len(leaves)))), shape=(n, len(leaves))
    )
    sums = term
    for _ in range(LEVELS):
        term = csr_array(parts @ term)
        if term.nnz == 0:
            return leaves, sums
        sums = csr_array(sums + term)
    return leaves, None


def _kernel(ties: np.ndarray) -> np.ndarray:
    """Return a basis of what keeps some ties: ones at its free columns, by elimination."""
    n_solved, pivots = 0, []
    for column in range(ties.shape[1]):
        if n_solved == len(ties):
            break
        size = np.abs(ties[n_solved:, column])
        best = n_solved + int(np.argmax(size))
        if size[best - n_solved] < TINY:
            continue
        ties[[n_solved, best]] = ties[[best, n_solved]]
        ties[n_solved] /= ties[n_solved, column]
        others = np.flatnonzero(np.abs(ties[:, column]) > TINY)
        others = others[others != n_solved]
        ties[others] -= np.outer(ties[others, column], ties[n_solved])
        pivots.append(column)
        n_solved += 1
    free = np.setdiff1d(np.arange(ties.shape[1]), pivots)
    basis = np.zeros((ties.shape[1], len(free)))
    basis[free, np.arange(len(free))] = 1.0
    basis[pivots] = -ties[:n_solved, free]
    return basis
