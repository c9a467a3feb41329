"""From cells at the finest codes to all cells: sums, largest contributions, distinct units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tacit.tables._selection import code_keys
from tacit.tables.contributions import weighed
from tacit.tables.dimension import Dimension


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest contributions to each cell, with what is known of each."""

    size: np.ndarray
    """Contributions, cells by places."""
    unit: np.ndarray
    """Number of the unit of each, -1 where none."""
    weight: np.ndarray
    request: np.ndarray

    @classmethod
    def none(cls, n_cells: int, depth: int) -> Largest:
        """Return no contributions at all."""
        shape = (n_cells, depth)
        return cls(
            np.zeros(shape), np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape, np.int8)
        )

    def take(self, rows: np.ndarray) -> Largest:
        """Return the contributions of some cells."""
        return Largest(*(part[rows] for part in vars(self).values()))

    def put(self, rows: np.ndarray, other: Largest) -> None:
        """Write the contributions of some cells, in place: the arrays are our own."""
        for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True):
            mine[rows] = theirs

    @property
    def entries(self) -> tuple[np.ndarray, Entries]:
        """Every contribution, with the row of its cell."""
        rows, places = np.nonzero(self.unit >= 0)
        parts = (part[rows, places] for part in vars(self).values())
        return rows, Entries(*parts)


@dataclass(frozen=True, eq=False)
class Entries:
    """Contributions one by one."""

    size: np.ndarray
    unit: np.ndarray
    weight: np.ndarray
    request: np.ndarray

    def take(self, rows: np.ndarray) -> Entries:
        """Return some of them."""
        return Entries(*(part[rows] for part in vars(self).values()))


def joined(one: Entries, other: Entries) -> Entries:
    """Return the contributions of both."""
    pairs = zip(vars(one).values(), vars(other).values(), strict=True)
    return Entries(*(np.concatenate(pair) for pair in pairs))


def largest_of(cell: np.ndarray, entries: Entries, n_cells: int, depth: int) -> Largest:
    """Return the `depth` largest contributions of each cell; ties go to the lower unit."""
    found = Largest.none(n_cells, depth)
    order = np.lexsort((entries.unit, -np.abs(entries.size), cell))
    sorted_cell = cell[order]
    start = np.searchsorted(sorted_cell, sorted_cell)
    place = np.arange(len(order)) - start
    kept = place < depth
    rows, places = sorted_cell[kept], place[kept]
    for mine, theirs in zip(
        vars(found).values(), vars(entries.take(order[kept])).values(), strict=True
    ):
        mine[rows, places] = theirs
    return found


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells that are not empty, with their sums and largest contributions."""

    codes: np.ndarray
    """Position of each cell's code in each dimension."""
    sums: np.ndarray
    """Additive quantities, cells by quantities."""
    largest: tuple[Largest, ...] = ()
    """Largest contributions, for each kind of unit."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: np.ndarray) -> Cells:
        """Return some of the cells."""
        return Cells(self.codes[rows], self.sums[rows], tuple(t.take(rows) for t in self.largest))


def roll_up(leaves: Cells, dimensions: Sequence[Dimension]) -> Cells:
    """Return the leaves and every sum of them, dimension by dimension."""
    cells = leaves
    for axis, dimension in enumerate(dimensions):
        leaf_of = _leaf_positions(dimension)
        parts = [cells]
        for level in dimension.levels[1:]:
            code = level[leaf_of[cells.codes[:, axis]]]
            rows = np.flatnonzero(code >= 0)
            if len(rows):
                parts.append(_merged(cells.take(rows), axis, code[rows], dimensions))
        cells = _stacked(parts)
    return cells


def _leaf_positions(dimension: Dimension) -> np.ndarray:
    """Return for each code its position among the leaves, -1 for sums."""
    position = np.full(len(dimension.codes), -1, dtype=np.int64)
    position[dimension.levels[0]] = np.arange(len(dimension.leaves))
    return position


def _merged(cells: Cells, axis: int, code: np.ndarray, dimensions: Sequence[Dimension]) -> Cells:
    """Add up cells whose code along one axis becomes the same."""
    codes = cells.codes.copy()
    codes[:, axis] = code
    _, first, group = np.unique(
        code_keys(codes, dimensions), return_index=True, return_inverse=True
    )
    sums = grouped_sums(group, cells.sums, len(first))
    largest = tuple(_merged_largest(group, one, len(first)) for one in cells.largest)
    return Cells(codes[first], sums, largest)


def grouped_sums(group: np.ndarray, numbers: np.ndarray, n_groups: int) -> np.ndarray:
    """Add up the rows of each group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    return np.asarray(np.add.reduceat(numbers[order], starts, axis=0))


def _merged_largest(group: np.ndarray, largest: Largest, n_groups: int) -> Largest:
    rows, entries = largest.entries
    return largest_of(group[rows], entries, n_groups, largest.size.shape[1])


def _stacked(parts: Sequence[Cells]) -> Cells:
    largest = tuple(
        Largest(
            *(np.concatenate(same) for same in zip(*(vars(t).values() for t in kind), strict=True))
        )
        for kind in zip(*(part.largest for part in parts), strict=True)
    )
    return Cells(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.sums for part in parts]),
        largest,
    )


@dataclass(frozen=True, eq=False)
class Spread:
    """Contributions of units that are in several leaf cells."""

    leaf: np.ndarray
    """Row of the leaf cell of each contribution."""
    unit: np.ndarray
    size: np.ndarray
    amount: np.ndarray
    """Weighted contribution."""
    weight: np.ndarray
    """Largest weight of the records it is the sum of."""
    request: np.ndarray


def with_spread(
    cells: Cells,
    leaf_codes: np.ndarray,
    dimensions: Sequence[Dimension],
    spread: Spread,
    kind: int,
    columns: tuple[int, int],
) -> Cells:
    """Add units that are in several leaves: summed over each cell first, then counted once.

    Parameters
    ----------
    kind
        Which of the largest contributions they belong to.
    columns
        Where the number of units and their absolute contributions stand among the sums.
    """
    keys = code_keys(cells.codes, dimensions)
    order = np.argsort(keys)
    sums, largest = cells.sums.copy(), cells.largest[kind].take(np.arange(len(cells)))
    positions = [_leaf_positions(d)[leaf_codes[:, j]] for j, d in enumerate(dimensions)]
    for levels in product(*(d.levels for d in dimensions)):
        codes = np.column_stack(
            [level[at] for level, at in zip(levels, positions, strict=True)]
        ).reshape(len(leaf_codes), len(dimensions))
        code = codes[spread.leaf]
        rows = np.flatnonzero((code >= 0).all(axis=1))
        if len(rows):
            at = order[np.searchsorted(keys, code_keys(code[rows], dimensions), sorter=order)]
            _add_units(sums, largest, at, _rows_of(spread, rows), columns)
    kinds = tuple(largest if k == kind else one for k, one in enumerate(cells.largest))
    return replace(cells, sums=sums, largest=kinds)


def _rows_of(spread: Spread, rows: np.ndarray) -> Spread:
    return Spread(*(part[rows] for part in vars(spread).values()))


def _add_units(
    sums: np.ndarray, largest: Largest, cell: np.ndarray, spread: Spread, columns: tuple[int, int]
) -> None:
    """Add up each unit's contributions to a cell, then count and rank the units."""
    order = np.lexsort((spread.unit, cell))
    cell, unit = cell[order], spread.unit[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(cell) != 0) | (np.diff(unit) != 0)])
    size = np.add.reduceat(spread.size[order], starts)
    amount = np.add.reduceat(spread.amount[order], starts)
    request = np.maximum.reduceat(spread.request[order], starts)
    largest_weight = np.maximum.reduceat(spread.weight[order], starts)
    size, weight = weighed(size, amount, largest_weight)
    cell = cell[starts]
    np.add.at(sums[:, columns[0]], cell, 1)
    np.add.at(sums[:, columns[1]], cell, np.abs(amount))
    touched, row = np.unique(cell, return_inverse=True)
    before_row, before = largest.take(touched).entries
    entries = joined(Entries(size, unit[starts], weight, request), before)
    merged = largest_of(
        np.concatenate([row, before_row]), entries, len(touched), largest.size.shape[1]
    )
    largest.put(touched, merged)
