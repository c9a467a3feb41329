"""Cells and relations of a full cross-classification."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import DataError
from tacit.tables._selection import code_keys
from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_CELLS = 5_000_000
"""Above this many combinations of codes, empty cells must be left out."""


def grid_codes(dimensions: tuple[Dimension, ...]) -> np.ndarray:
    """Return the codes of every cell, the last dimension running fastest."""
    sizes = [len(d.codes) for d in dimensions]
    if not sizes:
        return np.zeros((1, 0), dtype=np.int32)
    places = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1)
    return np.ascontiguousarray(places.T)


def grid_relations(dimensions: tuple[Dimension, ...]) -> csr_array:
    """Return every sum of every dimension, at every combination of the other codes."""
    from scipy.sparse import csr_array, vstack

    sizes = [len(d.codes) for d in dimensions]
    n = prod(sizes)
    blocks = [
        _sums_along(axis, parent, children, sizes)
        for axis, dimension in enumerate(dimensions)
        for parent, children in dimension.sums
    ]
    return csr_array(vstack(blocks, format="csr")) if blocks else csr_array((0, n))


def _sums_along(axis: int, parent: int, children: np.ndarray, sizes: list[int]) -> csr_array:
    """Return one sum of one dimension at every combination of the other codes."""
    from scipy.sparse import csr_array

    stride = prod(sizes[axis + 1 :])
    inner = np.arange(stride)
    outer = np.arange(prod(sizes[:axis])) * (stride * sizes[axis])
    start = (outer[:, None] + inner[None, :]).ravel()
    members = np.concatenate([[parent], children]) * stride
    columns = (start[:, None] + members[None, :]).ravel()
    signs = np.concatenate([[-1.0], np.ones(len(children))])
    data = np.tile(signs, len(start))
    pointers = np.arange(len(start) + 1) * len(members)
    return csr_array((data, columns, pointers), shape=(len(start), prod(sizes)))


def sparse_relations(codes: np.ndarray, dimensions: tuple[Dimension, ...]) -> csr_array:
    """Return the sums that hold among some cells of the full table, the others being empty.

    Every sum of a cell in the list must be in the list as well.
    """
    from scipy.sparse import csr_array, vstack

    keys = code_keys(codes, dimensions)
    order = np.argsort(keys)
    blocks = []
    for axis, dimension in enumerate(dimensions):
        child, group = _memberships(dimension)
        start = np.searchsorted(child, codes[:, axis], "left")
        n_groups = np.searchsorted(child, codes[:, axis], "right") - start
        member = np.repeat(np.arange(len(codes)), n_groups)
        offset = np.arange(len(member)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
        sums = group[np.repeat(start, n_groups) + offset]
        above = codes[member].astype(np.int64)
        above[:, axis] = np.array([p for p, _ in dimension.sums], dtype=np.int64)[sums]
        total = order[np.searchsorted(keys, code_keys(above, dimensions), sorter=order)]
        blocks.append(_sums_of_members(member, total, sums, len(codes)))
    return csr_array(vstack(blocks, format="csr")) if blocks else csr_array((0, len(codes)))


def _memberships(dimension: Dimension) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that are part of a sum, sorted, and the number of that sum."""
    pairs = [(int(c), g) for g, (_, children) in enumerate(dimension.sums) for c in children]
    table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _sums_of_members(
    member: np.ndarray, total: np.ndarray, sums: np.ndarray, n_cells: int
) -> csr_array:
    """Return one relation for each total and sum, from its members."""
    from scipy.sparse import csr_array

    order = np.lexsort((member, sums, total))
    member, total, sums = member[order], total[order], sums[order]
    first = np.r_[True, (np.diff(total) != 0) | (np.diff(sums) != 0)][: len(total)]
    row = np.cumsum(first) - 1
    n_rows = int(first.sum())
    data = np.r_[np.ones(len(member)), np.full(n_rows, -1.0)]
    place = (np.r_[row, np.arange(n_rows)], np.r_[member, total[first]])
    return csr_array((data, place), shape=(n_rows, n_cells))


def shape_of(
    codes: np.ndarray, dimensions: tuple[Dimension, ...], keep_empty: bool
) -> tuple[np.ndarray, csr_array, np.ndarray]:
    """Return codes and relations of all cells, and where the cells that are not empty go."""
    keys = code_keys(codes, dimensions)
    if keep_empty:
        check_size(dimensions)
        return grid_codes(dimensions), grid_relations(dimensions), keys
    order = np.argsort(keys)
    at = np.empty_like(order)
    at[order] = np.arange(len(order))
    kept = codes[order].astype(np.int32)
    return kept, sparse_relations(kept, dimensions), at


def check_size(dimensions: tuple[Dimension, ...]) -> None:
    """Refuse a full cross-classification that is too large."""
    n_cells = prod(len(d.codes) for d in dimensions)
    if n_cells > MOST_CELLS:
        raise DataError(
            "the table has too many combinations of codes",
            got=f"{n_cells:,}, at most {MOST_CELLS:,}",
            do="say keep_empty=False, or leave out a dimension or a level",
        )


def kept_cells(relations: csr_array, kept: np.ndarray) -> csr_array:
    """Return the relations among some cells, the others being zero for certain."""
    from scipy.sparse import csr_array

    reduced = csr_array(relations[:, np.flatnonzero(kept)])
    reduced.eliminate_zeros()
    return csr_array(reduced[np.flatnonzero(np.diff(reduced.indptr) > 0), :])
