"""Sums of cells in which the same respondent is alone: sensitive as the cells themselves.

What one respondent has in two suppressed cells may be known exactly though neither cell is. Such
sums are added to a table as cells that are never published, with the protection of their parts
together. Every attack and every suppression then treats them as it treats sensitive cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tacit.tables._audit_insiders import single_respondents
from tacit.tables.contributions import Contributions
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

EVERY = 4
"""Cells of one respondent up to which every sum of some of them is looked at."""
PAIRS = 8
"""Cells of one respondent in one relation up to which all pairs among them are looked at."""
_NUMBERS = ("count", "weighted_count", "cost", "level_below", "level_above")
_FLAGS = ("frozen", "waived", "unsafe", "requested")


@dataclass(frozen=True, eq=False)
class WithSums:
    """A table and its sensitive cells, with the sums of single respondents at the end."""

    table: Table
    sensitive: Sensitive
    sums: tuple[np.ndarray, ...]
    """The cells of each sum."""

    @property
    def n_cells(self) -> int:
        """Number of cells of the table without the sums."""
        return self.table.n_cells - len(self.sums)

    def widened(self, flags: np.ndarray, fill: Any) -> np.ndarray:
        """Return an array over the table's cells with an entry for each sum."""
        return np.concatenate([flags, np.full(len(self.sums), fill, dtype=flags.dtype)])

    def summed(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of the table's cells with their sums."""
        more = [numbers[cells].sum() for cells in self.sums]
        return np.concatenate([numbers, np.array(more, dtype=float)])


def with_respondent_sums(
    table: Table, sensitive: Sensitive, among: np.ndarray | None = None
) -> WithSums:
    """Add the sums of sensitive cells in which the same respondent is alone.

    Parameters
    ----------
    table, sensitive
        What is to be protected or attacked.
    among
        A number per cell: only cells with the same number, 0 or more, are added up. All unless
        given.
    """
    primary = sensitive.cells & ~table.flags("waived")
    sums = respondent_sums(table, primary, among)
    if not sums:
        return WithSums(table, sensitive, ())
    made = WithSums(table, sensitive, tuple(sums))
    return WithSums(_with_cells(made), _with_levels(made), made.sums)


def respondent_sums(
    table: Table, primary: np.ndarray, among: np.ndarray | None = None
) -> list[np.ndarray]:
    """Return which sensitive cells (flags) of single respondents are looked at together."""
    insiders = single_respondents(table, primary)
    several = [cells for cells in insiders.known if len(cells) > 1]
    if not several:
        return []
    inside = _repeats(table, several)
    found: dict[tuple[int, ...], None] = {}
    for cells in several:
        apart = cells[~inside[cells]]
        for group in _split(apart, among):
            found |= dict.fromkeys(_choices(table, group))
    return [np.array(cells, dtype=np.int64) for cells in found]


def _repeats(table: Table, several: list[np.ndarray]) -> np.ndarray:
    """Return the cells that are sums of other cells of the same respondent."""
    owner = np.full(table.n_cells, -1, dtype=np.int64)
    for name, cells in enumerate(several):
        owner[cells] = name
    terms = table.relations.tocoo()
    row, cell = terms.coords
    part = (terms.data > 0) & (owner[cell] >= 0)
    total = (table.total_of[row] == cell) & (owner[cell] >= 0)
    n = len(several)
    pairs = np.unique(row[part].astype(np.int64) * n + owner[cell[part]])
    is_repeat = np.zeros(table.n_cells, dtype=bool)
    own = row[total].astype(np.int64) * n + owner[cell[total]]
    is_repeat[cell[total][np.isin(own, pairs)]] = True
    return is_repeat


def _split(cells: np.ndarray, among: np.ndarray | None) -> list[np.ndarray]:
    if among is None:
        return [cells]
    names = among[cells]
    return [cells[names == name] for name in np.unique(names) if name >= 0]


def _choices(table: Table, cells: np.ndarray) -> list[tuple[int, ...]]:
    """Return which of the cells of one respondent are added up.

    All choices of few cells; of many, those of each relation, pairs within it, and all together.
    """
    one = tuple(cells.tolist())
    if len(one) <= EVERY:
        return [c for size in range(2, len(one) + 1) for c in combinations(one, size)]
    rows = table.relations[:, cells].tocoo()
    found = [one]
    order = np.argsort(rows.coords[0], kind="stable")
    row, member = rows.coords[0][order], cells[rows.coords[1][order]]
    for group in np.split(member, np.flatnonzero(np.diff(row)) + 1):
        if len(group) > 1:
            found.append(tuple(np.sort(group).tolist()))
            found += combinations(found[-1], 2) if len(group) <= PAIRS else []
    return found


# -- the wider table --------------------------------------------------------------------------


def _with_cells(made: WithSums) -> Table:
    """Return the table with a cell for each sum; it is named after the first of its parts."""
    table, n = made.table, len(made.sums)
    at = np.concatenate([np.arange(table.n_cells), [cells[0] for cells in made.sums]])
    changes: dict[str, Any] = {
        "value": made.summed(table.value), "relations": _with_rows(made),
        "lower": made.summed(table.bounds[0]), "upper": made.summed(table.bounds[1]),
        "forced": None if table.forced is None else made.widened(table.forced, fill=True),
        "respondents": _of(table.respondents, at), "holdings": _of(table.holdings, at),
    }  # fmt: skip
    changes |= {name: _of(getattr(table, name), at) for name in _NUMBERS}
    for name in _FLAGS:
        given = getattr(table, name)
        changes[name] = None if given is None else made.widened(given, fill=False)
    if table.dimensions:
        changes["codes"] = table.codes[at]
    if table.names:
        changes["names"] = (*table.names, *(table.names[cells[0]] for cells in made.sums))
    unused: dict[str, Any] = {"sums": {}, "key_sums": {}, "value_key_sums": {}}
    return table.replace(**changes, **unused) if n else table


def _of(given: Any, at: np.ndarray) -> Any:
    if given is None:
        return None
    return given.take(at) if isinstance(given, Contributions) else given[at]


def _with_rows(made: WithSums) -> Any:
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    table, n = made.table, len(made.sums)
    row = np.repeat(np.arange(n), [len(cells) for cells in made.sums])
    parts = csr_array(
        (np.ones(len(row)), (row, np.concatenate(made.sums))), shape=(n, table.n_cells)
    )
    above = hstack([table.relations, csr_array((table.relations.shape[0], n))])
    return csr_array(vstack([above, hstack([parts, -eye_array(n)])]))


def _with_levels(made: WithSums) -> Sensitive:
    """Return the sensitive cells with the sums: a sum needs what its parts need together."""
    found = made.sensitive
    return Sensitive(
        made.widened(found.cells, fill=True), made.summed(found.below), made.summed(found.above),
        made.summed(found.width),
        {name: made.widened(hit, fill=False) for name, hit in found.hits.items()},
    )  # fmt: skip
