"""The finest cells of a table, each free to change, and the sums they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import DataError
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Leaves:
    """The finest cells of a table that may differ from zero, and the sums they make."""

    at: np.ndarray
    """Their places among the cells."""
    sums: csr_array
    """Cells by leaves: one where a leaf is part of a cell."""


def free_leaves(table: Table, free: np.ndarray) -> Leaves | None:
    """Return the leaves that are not zero, or nothing if leaves are tied to each other.

    They are tied where a total has several breakdowns that share no finer cells, as in linked
    tables; then no leaf can change by itself.
    """
    from scipy.sparse import csr_array

    at = np.flatnonzero(~table.is_total & free)
    term = csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(table.n_cells, len(at)))
    parts = _one_breakdown(table)
    sums = term
    for _ in range(_MOST_LEVELS):
        term = csr_array(parts @ term)
        if term.nnz == 0:
            break
        sums = csr_array(sums + term)
    missed = csr_array(table.relations @ sums)
    missed.eliminate_zeros()
    single = sums.nnz == 0 or sums.data.max() == 1
    return Leaves(at, sums) if term.nnz == 0 and missed.nnz == 0 and single else None


def _one_breakdown(table: Table) -> csr_array:
    """Return for each total the parts of one of its sums."""
    from scipy.sparse import csr_array

    coo = table.relations.tocoo()
    row, column = coo.coords
    total_of = table.total_of
    _, chosen = np.unique(total_of, return_index=True)
    part = (coo.data > 0) & np.isin(row, chosen) & (total_of[row] >= 0)
    place = (total_of[row[part]], column[part])
    return csr_array((coo.data[part], place), shape=(table.n_cells, table.n_cells))


def leaves_of(table: Table, what: str, do: str) -> Leaves:
    """Return all finest cells, or refuse a table in which they are tied to each other."""
    found = free_leaves(table, np.ones(table.n_cells, dtype=bool))
    if found is None:
        raise DataError(
            f"{what} adds sums up from the finest cells, and linked tables have several kinds",
            got=repr(table),
            do=do,
        )
    return found
