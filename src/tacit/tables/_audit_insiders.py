"""Respondents as intruders: who knows which suppressed cells, alone or together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


def single_respondents(table: Table, cells: np.ndarray) -> Insiders:
    """Return who is alone in which of some cells (flags).

    Holdings are read before respondents where the table has them. Without the names of the units
    each cell with one contributor has its own.

    Raises
    ------
    DataError
        If the table does not know how many contribute to its cells.
    """
    alone, unit = _alone(table)
    found = np.flatnonzero(cells & alone)
    if unit is None:
        return Insiders([found[[i]] for i in range(len(found))])
    order = np.argsort(unit[found], kind="stable")
    starts = np.flatnonzero(np.diff(unit[found][order])) + 1
    groups = np.split(found[order], starts) if len(found) else []
    return Insiders([np.sort(group) for group in groups])


def _alone(table: Table) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the cells with one contributor, and who it is where that is known."""
    units: Contributions | None = table.holdings or table.respondents
    if units is not None:
        return units.n_units == 1, None if units.unit is None else units.unit[:, 0]
    if table.count is not None:
        return table.count == 1, None
    if table.is_count:
        return table.value == 1, None
    raise DataError(
        "who is alone in a cell is not known: the table has no numbers of contributors",
        do="build the table from microdata, or give its counts",
    )


def insider_attacks(
    table: Table, hidden: np.ndarray, primary: np.ndarray, coalition: int = 1
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the cells known to each respondent or coalition, and the cells they attack.

    A respondent attacks the sensitive cells that share a relation with one of its own; up to
    `coalition` respondents pool what they know when their cells share a relation.
    """
    insiders = single_respondents(table, hidden)
    near = _Neighbours(table, hidden)
    targets = hidden & primary
    for known in insiders.known:
        attacked = near.of(known)
        yield known, attacked[targets[attacked]]
    for size in range(2, coalition + 1):
        for group in _coalitions(insiders, near, size):
            known = np.unique(np.concatenate([insiders.known[i] for i in group]))
            attacked = near.common(known)
            yield known, attacked[targets[attacked]]


class _Neighbours:
    """Suppressed cells that share a relation with given cells."""

    def __init__(self, table: Table, hidden: np.ndarray) -> None:
        self._rows = table.relations
        self._columns = table.relations.tocsc()
        self._hidden = hidden

    def relations(self, cells: np.ndarray) -> np.ndarray:
        parts = [self._columns.indices[slice(*self._span(c))] for c in cells]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def _span(self, cell: int) -> tuple[int, int]:
        return self._columns.indptr[cell], self._columns.indptr[cell + 1]

    def _members(self, row: int) -> np.ndarray:
        members = self._rows.indices[self._rows.indptr[row] : self._rows.indptr[row + 1]]
        return np.asarray(members[self._hidden[members]])

    def of(self, cells: np.ndarray) -> np.ndarray:
        """Return the suppressed cells beside some cells, in any of their relations."""
        members = [self._members(row) for row in self.relations(cells)]
        found = np.unique(np.concatenate(members)) if members else np.empty(0, dtype=np.int64)
        return np.setdiff1d(found, cells)

    def common(self, cells: np.ndarray) -> np.ndarray:
        """Return the suppressed cells in relations that hold at least two of some cells."""
        members = [self._members(row) for row in self.relations(cells)]
        shared = [m for m in members if np.isin(m, cells).sum() > 1]
        found = np.unique(np.concatenate(shared)) if shared else np.empty(0, dtype=np.int64)
        return np.setdiff1d(found, cells)


def _coalitions(insiders: Insiders, near: _Neighbours, size: int) -> list[tuple[int, ...]]:
    """Return the groups of respondents whose cells meet in a relation."""
    by_relation: dict[int, list[int]] = {}
    for name, known in enumerate(insiders.known):
        for row in near.relations(known):
            by_relation.setdefault(int(row), []).append(name)
    groups = {g for names in by_relation.values() for g in combinations(sorted(set(names)), size)}
    return sorted(groups)
