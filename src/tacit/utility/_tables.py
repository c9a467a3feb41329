"""Counts of the same combinations of categories in two files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.common_scale import common_codes
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import group_ids
from tacit.core.measurement import counted
from tacit.core.pairing import Pair, pair, substantive_columns
from tacit.core.schema import Kind
from tacit.core.table_measures import cramers_v

_MOST_LEVELS = 200
"""By default columns with more categories than this are not tabulated."""
_MOST_NUMBERS = 20
"""By default numbers with more values than this are not tabulated."""


@dataclass(frozen=True)
class SharedCodes:
    """Columns of two files, coded so that equal labels have equal codes; gaps are a category."""

    columns: list[str]
    before: np.ndarray
    after: np.ndarray
    weights: tuple[np.ndarray | None, np.ndarray | None]

    @classmethod
    def of(cls, both: Pair, columns: Sequence[str]) -> SharedCodes:
        """Code the columns of both files together, by their labels as text where types differ."""
        tables = [both.original.local, both.released.local]
        if min(t.height for t in tables) == 0:
            raise DataError("tables need at least one record in each file", got="none")
        codes = [np.concatenate(common_codes(*(t[column] for t in tables))) for column in columns]
        stacked = np.column_stack(codes) if codes else np.empty((sum(map(len, tables)), 0))
        n = tables[0].height
        old, new = both.original.weights, both.released.weights
        weights = (old, new) if old is not None and new is not None else (None, None)
        return cls(list(columns), stacked[:n], stacked[n:], weights)

    def shares(self, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of the cells of a table in both files, in the same order."""
        both = np.concatenate([self.before[:, chosen], self.after[:, chosen]])
        ids, n_cells = group_ids(np.ascontiguousarray(both, dtype=np.int32))
        n = len(self.before)
        old = np.bincount(ids[:n], self.weights[0], minlength=n_cells)
        new = np.bincount(ids[n:], self.weights[1], minlength=n_cells)
        return old / old.sum(), new / new.sum()

    def without_recoded(self) -> tuple[SharedCodes, list[str]]:
        """Leave out columns of which the release has no category of the original; name them."""
        kept = [j for j in range(len(self.columns)) if not self._is_recoded(j)]
        names = [c for j, c in enumerate(self.columns) if j not in kept]
        columns = [self.columns[j] for j in kept]
        return SharedCodes(columns, self.before[:, kept], self.after[:, kept], self.weights), names

    def recoded(self) -> list[str]:
        """Columns of which the release has no category of the original, gaps apart."""
        return [c for j, c in enumerate(self.columns) if self._is_recoded(j)]

    def _is_recoded(self, j: int) -> bool:
        new = np.unique(self.after[:, j])
        new = new[new >= 0]
        return bool(len(new)) and not np.isin(new, self.before[:, j]).any()


def tabulated_columns(both: Pair) -> list[str]:
    """Columns of both files that are categories, or numbers with few values."""
    found = []
    for column in substantive_columns(both.original):
        if column not in both.released.schema:
            continue
        variable = both.original.schema[column]
        n_levels = both.original.local[column].n_unique()
        limit = _MOST_NUMBERS if variable.kind == Kind.NUMERIC else _MOST_LEVELS
        if n_levels <= limit:
            found.append(column)
    return found


def chosen_codes(both: Pair, named: Sequence[str] | None) -> tuple[SharedCodes, list[str]]:
    """Code the columns named, or all that make tables and were not recoded; list those recoded."""
    columns = list(named) if named else tabulated_columns(both)
    for side in both.sides:
        side.schema.require(columns)
    codes = SharedCodes.of(both, columns)
    return (codes if named else codes.without_recoded()[0]), codes.recoded()


def objection_to_tables(
    original: Microdata, named: Sequence[str] | None, fewest: int
) -> str | None:
    """Say that a file has no record, or too few columns to tabulate."""
    if original.n_records == 0:
        return "there is no record to compare"
    if named is None and len(tabulated_columns(pair(original))) < fewest:
        return f"fewer than {counted(fewest, 'categorical column')}"
    return None


def recoded_warnings(columns: Sequence[str], verdict: str) -> tuple[str, ...]:
    """Say of columns whose categories are all new what became of them."""
    return tuple(f"{c!r} has other categories in the release: {verdict}" for c in columns)


def text_warnings(columns: Sequence[str]) -> tuple[str, ...]:
    """Name numbers that became text, so that they could only be compared as categories."""
    if not columns:
        return ()
    return (f"No longer numbers in the release, and compared as categories: {', '.join(columns)}.",)


def association(codes: np.ndarray, weights: np.ndarray | None) -> float:
    """Return Cramer's V of two columns of codes; 0 where it is not defined."""
    table = np.zeros(tuple(int(c.max()) + 2 for c in codes.T))
    np.add.at(table, tuple((codes + 1).T), 1.0 if weights is None else weights)
    return float(np.nan_to_num(cramers_v(table)))


def entropy(shares: np.ndarray) -> float:
    """Return Shannon's entropy in bits."""
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())
