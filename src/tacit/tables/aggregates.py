"""Tables from ready aggregates: a row per cell, with or without the totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError, nearest
from tacit.tables._additivity import TOLERANCE
from tacit.tables._cell_rows import CellRows, Placed
from tacit.tables.contributions import Contributions
from tacit.tables.dimension import TOTAL
from tacit.tables.table import Table

STATUSES: dict[str, str | None] = {
    "": None, "s": None, "safe": None, "e": None, "empty": None,
    "u": "unsafe", "unsafe": "unsafe", "primary": "unsafe",
    "p": "frozen", "protected": "frozen", "frozen": "frozen", "z": "frozen",
    "m": "forced", "forced": "forced", "w": "waived", "waived": "waived",
}  # fmt: skip
"""What a word of a status column says of a cell; tau-ARGUS writes S, U and P."""


def from_aggregates(
    data: Any,
    by: str | Iterable[str],
    value: str | None = None,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    count: str | None = None,
    top: Iterable[str] = (),
    holding_count: str | None = None,
    holding_top: Iterable[str] = (),
    status: str | None = None,
    below: str | None = None,
    above: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
    cost: str | None = None,
    sums: Iterable[str] = (),
    total: str = TOTAL,
    keep_empty: bool = True,
) -> Table:
    """Build a table from aggregates: one row per cell.

    Rows of totals may be there or not; those that are not are added up, every respondent being in
    one of the finest cells only. Cells without a row are empty. A table that does not add up is
    refused.

    Parameters
    ----------
    data
        A frame of any kind, one row per cell.
    by
        Columns of codes.
    value
        Column of totals; nothing if the cells are counts.
    hierarchies
        For each column the codes that add up, as `tacit.tabulate` takes them.
    count
        Column of the number of respondents.
    top
        Columns of the largest contributions, largest first.
    holding_count
        Column of the number of holdings.
    holding_top
        Columns of the largest contributions of holdings, largest first.
    status
        Column that says which cells are safe (S), unsafe (U), protected from suppression (P),
        forced (M) or waived (W).
    below
        Column of lower protection levels.
    above
        Column of upper protection levels.
    lower
        Column of the least values anyone would think possible.
    upper
        Column of the largest values anyone would think possible.
    cost
        Column of what it costs to suppress a cell.
    sums
        Other columns that add up in the same cells.
    total
        Code of the total of each dimension.
    keep_empty
        Whether cells without a row are part of the table.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import tables
    >>> cells = pl.DataFrame({"region": ["N", "S"], "turnover": [60.0, 5.0], "n": [4, 1]})
    >>> table = tables.from_aggregates(cells, "region", "turnover", count="n")
    >>> table.frame.rows()
    [('Total', 65.0, 5), ('N', 60.0, 4), ('S', 5.0, 1)]
    """
    rows = CellRows(data, (by,) if isinstance(by, str) else tuple(by))
    if len(set(rows.by)) < len(rows.by):
        raise ParameterError("by names a column twice", got=", ".join(rows.by))
    amount = value or count
    if amount is None:
        raise ParameterError("aggregates need a value, or a count for a table of counts")
    kinds = {"respondents": (count, tuple(top)), "holdings": (holding_count, tuple(holding_top))}
    added = dict.fromkeys([amount, *(c for c, _ in kinds.values() if c is not None), *sums])
    placed = Placed(
        rows, hierarchies or {}, total, keep_empty, list(added), [t for _, t in kinds.values()]
    )
    _check_whole(rows, [c for c, _ in kinds.values() if c is not None])
    _check_not_negative(rows, [name for name in (below, above) if name is not None])
    table = Table(
        value=placed.sums[amount],
        relations=placed.relations,
        dimensions=placed.dimensions,
        codes=placed.codes,
        variable=value,
        count=None if count is None else placed.sums[count].astype(np.int64),
        sums={name: placed.sums[name] for name in sums},
        level_below=placed.asked(below),
        level_above=placed.asked(above),
        lower=placed.asked(lower, np.where(placed.sums[amount].min(initial=0) < 0, -np.inf, 0.0)),
        upper=placed.asked(upper, np.inf),
        **_flags(placed, status),
    )
    _check_sums(table, placed, [amount, *sums])
    _check_counts(table, placed, [c for c, _ in kinds.values() if c not in (None, amount)])
    _check_there(table)
    _check_bounds(table)
    found = {
        kind: _contributions(table, placed, k, number, names)
        for k, (kind, (number, names)) in enumerate(kinds.items())
        if names or (kind == "holdings" and number is not None)
    }
    table = table.replace(**found)
    return table if cost is None else table.with_cost(placed.at, rows.numbers(cost))


def _check_sums(table: Table, placed: Placed, names: Iterable[str]) -> None:
    """Refuse aggregates of which a column does not add up, naming the column."""
    for name in names:
        try:
            table.replace(value=placed.sums[name]).check_additive()
        except DataError as error:
            raise DataError(f"{error.what} in {name!r}", got=error.got, do=error.do) from error


def _check_whole(rows: CellRows, names: Iterable[str]) -> None:
    """Refuse counts that are no whole numbers: cut to one, half a respondent would be nobody."""
    for name in names:
        counts = rows.numbers(name)
        wrong = np.flatnonzero((counts < 0) | (counts != np.round(counts)))
        if len(wrong):
            codes = ", ".join(str(rows.frame[c][int(wrong[0])]) for c in rows.by)
            raise DataError(
                f"{name!r} must count respondents in whole numbers",
                got=f"{counts[wrong[0]]:g} in ({codes})",
                do="give unweighted counts; weighted ones may be the value",
            )


def _check_not_negative(rows: CellRows, names: Iterable[str]) -> None:
    """Refuse protection levels below nothing, which would ask for no protection."""
    for name in names:
        levels = rows.numbers(name)
        wrong = np.flatnonzero(levels < 0)
        if len(wrong):
            codes = ", ".join(str(rows.frame[c][int(wrong[0])]) for c in rows.by)
            raise DataError(
                f"the protection level {name!r} cannot be negative",
                got=f"{levels[wrong[0]]:g} in ({codes})",
            )


def _check_there(table: Table) -> None:
    """Refuse values that nobody contributed to: they would count as empty, and as safe."""
    wrong = np.flatnonzero(table.is_empty & (table.value != 0))
    if len(wrong):
        raise DataError(
            "cells have a value although nobody contributes to them",
            got=f"{table.describe(wrong)}: {table.value[wrong[0]]:g}",
            do="correct the number of respondents, or the value",
        )


def _check_bounds(table: Table) -> None:
    """Refuse bounds that do not hold the value."""
    lower, upper = table.bounds
    wrong = np.flatnonzero((table.value < lower) | (table.value > upper))
    if len(wrong):
        raise DataError("the bounds of a cell must hold its value", got=table.describe(wrong))


def _check_counts(table: Table, placed: Placed, names: Iterable[str]) -> None:
    """Refuse counts of units that no units could give: one may be in several cells, but counts."""
    share = table.relations.tocoo()
    (row, cell), part = share.coords, share.data > 0
    total = np.zeros(share.shape[0], dtype=np.int64)
    total[row[~part]] = cell[~part]
    for name in names:
        counts = placed.sums[name]
        least, most = np.zeros(share.shape[0]), np.zeros(share.shape[0])
        np.maximum.at(least, row[part], counts[cell[part]])
        np.add.at(most, row[part], counts[cell[part]])
        wrong = np.flatnonzero((counts[total] < least) | (counts[total] > most))
        if len(wrong):
            first = wrong[0]
            raise DataError(
                f"{name!r} counts a total that its parts cannot give",
                got=f"{table.describe(total[[first]])}: {counts[total[first]]:g}, "
                f"its parts {least[first]:g} to {most[first]:g}",
            )


def _flags(placed: Placed, status: str | None) -> dict[str, Any]:
    """Return the flags that a status column sets."""
    if status is None:
        return {}
    words = [str(w or "").strip().lower() for w in placed.rows.column(status).to_list()]
    unknown = sorted(set(words) - set(STATUSES))
    if unknown:
        raise DataError(
            f"{status!r} has a status that is not known",
            got=repr(unknown[0]),
            do=nearest(unknown[0], [word for word in STATUSES if word]),
        )
    meant = np.array([STATUSES[word] or "" for word in words], dtype=object)
    flags: dict[str, Any] = {}
    for flag in sorted(set(meant) - {""}):
        flags[flag] = np.zeros(len(placed.codes), dtype=bool)
        flags[flag][placed.at[meant == flag]] = True
    return flags


def _contributions(
    table: Table, placed: Placed, kind: int, number: str | None, names: tuple[str, ...]
) -> Contributions:
    """Return the largest contributions of one kind of unit."""
    if number is None:
        raise ParameterError(
            "the largest contributions need the number of contributors too", got=", ".join(names)
        )
    if kind == 1 and len(placed.added_up):
        raise DataError(
            "holdings may be in several cells, so their totals cannot be added up",
            got=f"no row for {table.describe(placed.added_up)}",
            do="give the rows of all totals",
        )
    top = placed.largest[kind]
    size = np.abs(top)
    many = np.flatnonzero((size > 0).sum(axis=1) > placed.sums[number])
    if len(many):
        raise DataError(
            "cells have more of the largest contributions than contributors",
            got=table.describe(many),
        )
    wrong = np.flatnonzero((np.diff(size, axis=1) > 0).any(axis=1))
    if len(wrong):
        raise DataError(
            "the largest contributions must come largest first", got=table.describe(wrong)
        )
    absolute = np.abs(table.value)
    over = np.flatnonzero(size.sum(axis=1) > absolute + TOLERANCE * np.maximum(absolute, 1.0))
    if len(over) and not (top < 0).any() and table.bounds[0].min(initial=0) >= 0:
        raise DataError("the largest contributions exceed their cell", got=table.describe(over))
    return Contributions(
        top=top,
        n_units=placed.sums[number].astype(np.int64),
        absolute=np.maximum(absolute, size.sum(axis=1)),
    )
