"""From cells at the finest codes to all cells: sums, largest contributions, distinct units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tacit.tables._selection import code_keys
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
    """Contributions of some units that are in several leaf cells, those of each one together."""

    start: np.ndarray
    """Where the contributions of each unit begin, and their end."""
    unit: np.ndarray
    """Number of each unit."""
    leaf: np.ndarray
    """Row of the leaf cell of each contribution."""
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
    spread: Iterable[Spread],
    kind: int,
    columns: tuple[int, int],
) -> Cells:
    """Add units that are in several leaves: summed over each cell first, then counted once.

    Parameters
    ----------
    spread
        Their contributions, no unit in two parts.
    kind
        Which of the largest contributions they belong to.
    columns
        Where the number of units and their absolute contributions stand among the sums.
    """
    from tacit.tables._rollup_kernel import add_units

    largest = cells.largest[kind].take(np.arange(len(cells)))
    numbers = tuple(cells.sums[:, column].copy() for column in columns)
    cell_of: list[np.ndarray] = []
    for part in spread:
        cell_of = cell_of or list(_cells_of_leaves(cells, leaf_codes, dimensions))
        for one in cell_of:
            add_units(
                one, part.start, part.unit, part.leaf,
                (part.size, part.amount, part.weight, part.request),
                numbers, tuple(vars(largest).values()),
            )  # fmt: skip
    sums = cells.sums.copy()
    sums[:, columns] = np.column_stack(numbers)
    kinds = tuple(largest if k == kind else one for k, one in enumerate(cells.largest))
    return replace(cells, sums=sums, largest=kinds)


def _cells_of_leaves(
    cells: Cells, leaf_codes: np.ndarray, dimensions: Sequence[Dimension]
) -> Iterator[np.ndarray]:
    """Give, for each combination of levels, the cell that each leaf is part of, -1 for none."""
    keys = code_keys(cells.codes, dimensions)
    order = np.argsort(keys)
    positions = [_leaf_positions(d)[leaf_codes[:, j]] for j, d in enumerate(dimensions)]
    for levels in product(*(d.levels for d in dimensions)):
        code = np.column_stack(
            [level[at] for level, at in zip(levels, positions, strict=True)]
        ).reshape(len(leaf_codes), len(dimensions))
        rows = np.flatnonzero((code >= 0).all(axis=1))
        found = np.full(len(leaf_codes), -1, dtype=np.int64)
        found[rows] = order[np.searchsorted(keys, code_keys(code[rows], dimensions), sorter=order)]
        yield found
