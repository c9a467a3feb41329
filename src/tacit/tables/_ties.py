"""Columns that follow from one another, and the sums this gives between linked tables.

Provinces lie in regions, whether or not a table says so. Who sees one table by province and one by
region adds the provinces up, so that these sums are relations like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.tables._codes import places_in
from tacit.tables._leaves import leaf_sums
from tacit.tables._records import Columns, MissingCodes, MissingValues, prepare
from tacit.tables._selection import code_keys
from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tacit.tables.table import Table


@dataclass(frozen=True)
class Records:
    """The records that tables were built from, and how they were read."""

    data: Any
    missing: MissingCodes = "error"
    missing_value: MissingValues = "error"

    def pairs(self, one: Dimension, other: Dimension, value: str | None) -> np.ndarray:
        """Return the codes of two columns that occur together; the engine finds them."""
        columns = Columns((one.name, other.name), value)
        prepared = prepare(Microdata.of(self.data), columns, self.missing, self.missing_value)
        leaves = leaf_sums(prepared.source)
        return np.column_stack(
            [places_in(d, prepared, leaves, j) for j, d in enumerate((one, other))]
        )


@dataclass(frozen=True, eq=False)
class Tie:
    """Codes of two columns that go together: those of a group hold the same records."""

    one: Dimension
    other: Dimension
    groups: tuple[np.ndarray, np.ndarray]
    """For each code of either column its group, -1 where it stands for none."""
    n_groups: int
    leaves: tuple[np.ndarray, np.ndarray]
    """The same for the finest codes alone."""

    def between(self, has_one: np.ndarray, has_other: np.ndarray) -> Tie:
        """Return the tie of two tables, written with the fewest codes that they have."""
        sides = [
            _shortest(d, group, self.n_groups, has)
            for d, group, has in zip(
                (self.one, self.other), self.groups, (has_one, has_other), strict=True
            )
        ]
        return replace(self, groups=(sides[0], sides[1]))

    def __str__(self) -> str:
        return f"{self.one.name} and {self.other.name}"


def tie_of(one: Dimension, other: Dimension, pairs: np.ndarray) -> Tie | None:
    """Return which codes of two columns hold the same records, or nothing if only all do.

    Codes that occur together are joined; what hangs together is a group.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = len(one.codes), len(other.codes)
    ends = (pairs[:, 0], pairs[:, 1] + n)
    joined = coo_array((np.ones(len(pairs)), ends), shape=(n + m, n + m))
    name = connected_components(joined, directed=False)[1]
    groups, number = np.unique(name[pairs[:, 0]], return_inverse=True)
    if len(groups) < 2:
        return None
    leaves = [np.full(size, -1) for size in (n, m)]
    for at, group in zip(leaves, pairs.T, strict=True):
        at[group] = number
    return Tie(one, other, (leaves[0], leaves[1]), len(groups), (leaves[0], leaves[1]))


def _shortest(
    dimension: Dimension, group: np.ndarray, n_groups: int, has: np.ndarray
) -> np.ndarray:
    """Let a single code stand for a group where a table has one that holds it all."""
    of_leaf = group[[dimension.index[leaf] for leaf in dimension.leaves]]
    size = np.bincount(_members(of_leaf), minlength=n_groups)
    held = dimension.contains
    found = group.copy()
    for code in np.flatnonzero(has[1:]) + 1:
        inside = of_leaf[held.indices[held.indptr[code] : held.indptr[code + 1]]]
        names = np.unique(_members(inside))
        if len(names) == 1 and len(_members(inside)) == size[names[0]] > 1:
            found[found == names[0]] = -1
            found[code] = names[0]
    return found


def _members(group: np.ndarray) -> np.ndarray:
    return np.asarray(group[group >= 0])


def ties_between(
    tables: Mapping[str, Table],
    codes: Mapping[str, np.ndarray],
    dimensions: Sequence[Dimension],
    records: Records | None,
) -> list[tuple[str, str, Tie]]:
    """Return for pairs of tables the columns that follow from one another.

    A table that has both columns says it itself; else the records are asked.

    Parameters
    ----------
    tables
        The tables by name.
    codes
        For each table the codes of its cells in `dimensions`.
    records
        The records they were built from.
    """
    spans = {name: {d.name for d in table.dimensions} for name, table in tables.items()}
    has = {
        (name, d.name): np.bincount(codes[name][:, j], minlength=len(d.codes)) > 0
        for name in tables
        for j, d in enumerate(dimensions)
    }
    known: dict[tuple[str, str], Tie | None] = {}
    found = []
    for a, b in combinations(tables, 2):
        for one, other in product(dimensions, dimensions):
            if one.name not in spans[a] - spans[b] or other.name not in spans[b] - spans[a]:
                continue
            both = (one.name, other.name)
            if both not in known:
                pairs = _shown_together(tables, codes, dimensions, both)
                if not len(pairs) and records is not None:
                    pairs = records.pairs(one, other, tables[a].variable)
                known[both] = tie_of(one, other, pairs)
            tie = known[both]
            if tie is not None:
                found.append((a, b, tie.between(has[a, one.name], has[b, other.name])))
    return found


def _shown_together(
    tables: Mapping[str, Table],
    codes: Mapping[str, np.ndarray],
    dimensions: Sequence[Dimension],
    names: tuple[str, str],
) -> np.ndarray:
    """Return the finest codes of two columns that occur together in a table that has both."""
    place = {d.name: j for j, d in enumerate(dimensions)}
    axes = [place[name] for name in names]
    for name, table in tables.items():
        if set(names) <= {d.name for d in table.dimensions}:
            chosen = ~table.is_empty
            for j in axes:
                is_leaf = np.isin(dimensions[j].codes, dimensions[j].leaves)
                chosen &= is_leaf[codes[name][:, j]]
            return np.unique(codes[name][chosen][:, axes], axis=0)
    return np.empty((0, 2), dtype=np.int64)


def tie_relations(
    ties: Sequence[tuple[str, str, Tie]],
    parts: Mapping[str, np.ndarray],
    codes: Mapping[str, np.ndarray],
    dimensions: Sequence[Dimension],
    n_cells: int,
) -> list[csr_array]:
    """Return the sums that ties give: the same groups, at the same codes of what tables share.

    Where several columns of two tables follow from one another, as regions from provinces and
    sections from branches, those of all combinations of groups.

    Parameters
    ----------
    parts
        Where the cells of each table stand among all.
    codes
        For each table the codes of its cells in `dimensions`.
    """
    between: dict[tuple[str, str], list[Tie]] = {}
    for a, b, tie in ties:
        between.setdefault((a, b), []).append(tie)
    return [
        _rows(a, b, chosen, parts, codes, dimensions, n_cells)
        for (a, b), found in between.items()
        for chosen in _together(found)
    ]


def _side_by_side(ties: Sequence[Tie]) -> list[tuple[Tie, ...]]:
    """Return the choices of ties that have no column in common."""
    chosen: list[tuple[Tie, ...]] = [()]
    for tie in ties:
        chosen += [
            (*others, tie)
            for others in chosen
            if all(t.one.name != tie.one.name and t.other.name != tie.other.name for t in others)
        ]
    return chosen[1:]


def _together(ties: Sequence[Tie]) -> list[tuple[Tie, ...]]:
    """Return the choices of ties that may give sums of their own.

    Those side by side, and all among some columns of either table: a code made of sex and age is
    tied to both, and what it says of both at once is a cell of the table by sex and age.
    """
    found = _side_by_side(ties)
    columns = ({t.one.name: None for t in ties}, {t.other.name: None for t in ties})
    for these, those in product(*(_choices(list(names)) for names in columns)):
        among = tuple(t for t in ties if t.one.name in these and t.other.name in those)
        if {t.one.name for t in among} == {*these} and {t.other.name for t in among} == {*those}:
            found.append(among)
    return list(dict.fromkeys(found))


def _choices(names: list[str]) -> list[tuple[str, ...]]:
    sizes = range(1, len(names) + 1)
    return list(chain.from_iterable(combinations(names, size) for size in sizes))


def _rows(
    a: str,
    b: str,
    ties: Sequence[Tie],
    parts: Mapping[str, np.ndarray],
    codes: Mapping[str, np.ndarray],
    dimensions: Sequence[Dimension],
    n_cells: int,
) -> csr_array:
    from scipy.sparse import csr_array

    place = {d.name: j for j, d in enumerate(dimensions)}
    axes = ([place[t.one.name] for t in ties], [place[t.other.name] for t in ties])
    shared = [
        j
        for j in range(len(dimensions))
        if j not in axes[0] + axes[1] and (codes[a][:, j] > 0).any() and (codes[b][:, j] > 0).any()
    ]
    sides = [
        _side(codes[name], axes[k], _groups(ties, k, axes[k]), shared, dimensions, ties)
        for k, name in enumerate((a, b))
    ]
    (at_a, key_a), (at_b, key_b) = sides
    common = np.intersect1d(key_a, key_b)
    of_b = np.searchsorted(common, key_b[np.isin(key_b, common)])
    # A sum has its total at -1, as in every relation.
    turned = np.where(np.bincount(of_b, minlength=len(common)) == 1, 1.0, -1.0)
    row, cell, sign = [], [], []
    for name, at, key, weight in ((a, at_a, key_a, 1.0), (b, at_b, key_b, -1.0)):
        kept = np.isin(key, common)
        row.append(np.searchsorted(common, key[kept]))
        cell.append(parts[name][at[kept]])
        sign.append(weight * turned[row[-1]])
    ends = (np.concatenate(row), np.concatenate(cell))
    return csr_array((np.concatenate(sign), ends), shape=(len(common), n_cells))


def _groups(ties: Sequence[Tie], side: int, axes: list[int]) -> list[np.ndarray]:
    """Return the groups of codes, finest ones where a column stands in several ties."""
    return [
        tie.leaves[side] if axes.count(axis) > 1 else tie.groups[side]
        for tie, axis in zip(ties, axes, strict=True)
    ]


def _side(
    codes: np.ndarray,
    axes: list[int],
    groups: Sequence[np.ndarray],
    shared: Sequence[int],
    dimensions: Sequence[Dimension],
    ties: Sequence[Tie],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of a table that are part of such sums, and the number of the sum."""
    others = [j for j in range(len(dimensions)) if j not in axes and j not in shared]
    of_cell = [group[codes[:, axis]] for axis, group in zip(axes, groups, strict=True)]
    inside = np.all([group >= 0 for group in of_cell], axis=0)
    at = np.flatnonzero(inside & (codes[:, others] == 0).all(axis=1))
    key = code_keys(codes[at][:, shared], [dimensions[j] for j in shared])
    for group, tie in zip(of_cell, ties, strict=True):
        key = key * tie.n_groups + group[at]
    return at, key
