"""Cells and relations of a full cross-classification."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


def kept_cells(relations: csr_array, kept: np.ndarray) -> csr_array:
    """Return the relations among some cells, the others being zero for certain."""
    from scipy.sparse import csr_array

    reduced = csr_array(relations[:, np.flatnonzero(kept)])
    reduced.eliminate_zeros()
    return csr_array(reduced[np.flatnonzero(np.diff(reduced.indptr) > 0), :])
