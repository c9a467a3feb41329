"""Respondents as intruders: who knows which suppressed cells, alone or together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tacit.core.errors import DataError
from tacit.tables.contributions import Contributions
from tacit.tables.table import Table


@dataclass(frozen=True, eq=False)
class Insiders:
    """The respondents who alone make up a suppressed cell, with the cells each knows."""

    known: list[np.ndarray]
    """For each such respondent the cells (positions) it knows because nobody else is in them."""

    def __len__(self) -> int:
        return len(self.known)

    @cached_property
    def owner(self) -> dict[int, int]:
        """For each cell that somebody knows, who."""
        return {int(c): name for name, cells in enumerate(self.known) for c in cells}


def single_respondents(table: Table, cells: np.ndarray) -> Insiders:
    """Return who is alone in which of some cells (flags).

    Holdings are read before respondents where the table has them. Without the names of the units
    each cell with one contributor has its own, but for a sum: who is alone in it is alone in the
    one part that is not empty.

    Raises
    ------
    DataError
        If the table does not know how many contribute to its cells.
    """
    number, unit = _contributors(table)
    found = np.flatnonzero(cells & (number == 1))
    named = (_same(table, number) if unit is None else unit)[found]
    named = np.where(named >= 0, named, -1 - found)  # a unit without a number stands for itself
    order = np.argsort(named, kind="stable")
    starts = np.flatnonzero(np.diff(named[order])) + 1
    groups = np.split(found[order], starts) if len(found) else []
    return Insiders([np.sort(group) for group in groups])


def _same(table: Table, number: np.ndarray) -> np.ndarray:
    """Return a number per cell, the same for sums of one contributor and their parts with it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    terms = table.relations.tocoo()
    row, cell = terms.coords
    alone = number[cell] == 1
    total = table.total_of[row]
    parts = alone & (terms.data > 0) & (total >= 0) & (number[total] == 1)
    pairs = cell[parts], total[parts]
    joined = coo_array((np.ones(len(pairs[0])), pairs), shape=(table.n_cells, table.n_cells))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.int64)


def _contributors(table: Table) -> tuple[np.ndarray, np.ndarray | None]:
    """Return how many contribute to each cell, and who the first is where that is known."""
    units: Contributions | None = table.holdings or table.respondents
    if units is not None:
        return units.n_units, None if units.unit is None else units.unit[:, 0]
    if table.count is not None:
        return table.count, None
    if table.is_count:
        return table.value, None
    raise DataError(
        "who is alone in a cell is not known: the table has no numbers of contributors",
        do="build the table from microdata, or give its counts",
    )


def knows_contributors(table: Table) -> bool:
    """Return whether it is known how many contribute to each cell, so who is alone in one."""
    given = (table.holdings, table.respondents, table.count)
    return table.is_count or any(one is not None for one in given)


def excused_pairs(table: Table, primary: np.ndarray, insiders: Insiders) -> dict[int, set[int]]:
    """Return the sensitive cells that some respondents need not be kept from, and these.

    Let a sum be made of cells in which a respondent is alone and of one other cell. Then it learns
    of the sum exactly what it learns of that cell, which is safe or has a requirement of its own;
    that of the sum is made for others, and may be a share of what the respondent itself has in it.
    The same holds if in all other cells the same other respondent is alone and all are sensitive,
    because their sum has a requirement, too.
    """
    number, _ = _contributors(table)
    relations, owner = table.relations, insiders.owner
    terms = relations.tocoo()
    row, cell = terms.coords
    heads = (table.total_of[row] == cell) & primary[cell]
    found: dict[int, set[int]] = {}
    for line, total in zip(row[heads], cell[heads], strict=True):
        members = relations.indices[relations.indptr[line] : relations.indptr[line + 1]]
        parts = members[(members != total) & (number[members] > 0)].tolist()
        who = [owner.get(part, -1) if number[part] == 1 else -1 for part in parts]
        for name in set(who) - {-1}:
            rest = [k for k, other in enumerate(who) if other != name]
            others = {who[k] for k in rest}
            one = len(others) == 1 and -1 not in others
            if len(rest) == 1 or (one and all(primary[parts[k]] for k in rest)):
                found.setdefault(int(total), set()).add(name)
    return found


def coalitions(table: Table, insiders: Insiders, most: int) -> Iterator[tuple[int, ...]]:
    """Give each respondent, and the groups of up to `most` whose cells meet in a relation."""
    yield from ((name,) for name in range(len(insiders)))
    if most < 2:
        return
    columns = table.relations.tocsc()
    by_relation: dict[int, set[int]] = {}
    for name, known in enumerate(insiders.known):
        for c in known:
            for line in columns.indices[columns.indptr[c] : columns.indptr[c + 1]]:
                by_relation.setdefault(int(line), set()).add(name)
    for size in range(2, most + 1):
        groups = {g for names in by_relation.values() for g in combinations(sorted(names), size)}
        yield from sorted(groups)
