"""Cells taken together: their sums, flags and contributions.

A respondent in several of the cells is one respondent. Where a table does not say who is in which
cell, the worst is assumed: contributions of the merged cell are rather too concentrated than too
little, its respondents rather too few than too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.tables.contributions import UNNAMED, Contributions, weighed
from tacit.tables.table import Table

_SUMS = ("value", "count", "weighted_count", "lower", "upper", "cost")
_LEVELS = ("level_below", "level_above")
_EITHER = ("frozen", "forced", "unsafe", "requested")


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which cells of a table are taken together."""

    rows: np.ndarray
    """Positions of cells."""
    group: np.ndarray
    """The number of the new cell each goes into."""
    n: int
    """How many new cells there are; each has a row at least."""
    shared: np.ndarray
    """For each new cell whether a respondent may be in several of its cells."""

    def total(self, given: np.ndarray) -> np.ndarray:
        """Return the sums of numbers given for all cells of the table."""
        made = np.zeros(self.n, dtype=given.dtype if given.dtype != bool else np.int64)
        np.add.at(made, self.group, given[self.rows])
        return made

    def most(self, given: np.ndarray) -> np.ndarray:
        """Return the largest number of each group."""
        made = np.full(self.n, given.min(initial=0), dtype=given.dtype)
        np.maximum.at(made, self.group, given[self.rows])
        return made

    def any(self, flags: np.ndarray) -> np.ndarray:
        """Return whether a flag is set for one of the cells."""
        return self.total(np.asarray(flags, dtype=np.int64)) > 0


def sums_of_cells(table: Table, grouping: Grouping) -> dict[str, Any]:
    """Return what a table holds per cell, for groups of its cells taken together.

    A group is unsafe, frozen or forced if one of its cells is, and waived if all are that are not
    empty. Levels asked for add up.
    """
    parts: dict[str, Any] = {n: _of(grouping.total, getattr(table, n)) for n in _SUMS}
    parts |= {name: _of(grouping.any, getattr(table, name)) for name in _EITHER}
    parts |= {n: _of(lambda g: _levels(g, grouping), getattr(table, n)) for n in _LEVELS}
    if table.waived is not None:
        open_ = grouping.any(~table.waived & ~table.is_empty)
        parts["waived"] = grouping.any(table.waived) & ~open_
    for name in ("sums", "key_sums", "value_key_sums"):
        parts[name] = {key: grouping.total(g) for key, g in getattr(table, name).items()}
    net = table.value
    for name in ("respondents", "holdings"):
        parts[name] = _of(lambda units: _joined(units, grouping, net), getattr(table, name))
    return parts


def _of(make: Any, given: Any) -> Any:
    return None if given is None else make(given)


def _levels(given: np.ndarray, grouping: Grouping) -> np.ndarray:
    asked = ~np.isnan(given)
    return np.where(grouping.any(asked), grouping.total(np.where(asked, given, 0.0)), np.nan)


# -- contributions ---------------------------------------------------------------------------------


def _joined(units: Contributions, grouping: Grouping, value: np.ndarray) -> Contributions:
    """Return the contributions to groups of cells."""
    entries = _Entries.of(units, grouping)
    hidden = units.n_units > units.depth
    unclear = grouping.shared & grouping.any(hidden)
    absolute = grouping.total(units.absolute) - entries.cancelled
    if (units.top < 0).any() and unclear.any():
        net = grouping.total(value if units.net is None else units.net)
        absolute = np.where(unclear, np.abs(net), absolute)
    made = {
        "absolute": absolute,
        "n_units": _number(units, grouping, entries),
        "net": None if units.net is None else grouping.total(units.net),
        **entries.largest(units.depth),
    }
    if units.weight is not None or (units.top < 0).any():
        made = _one_has_all(made, unclear)
    return Contributions(**made)


def _number(units: Contributions, grouping: Grouping, entries: _Entries) -> np.ndarray:
    """Return how many units there are at least."""
    known = np.bincount(entries.group, minlength=grouping.n) if entries.named else 0
    least = np.maximum(grouping.most(units.n_units), known)
    return np.where(grouping.shared, least, grouping.total(units.n_units))


def _one_has_all(made: dict[str, Any], cells: np.ndarray) -> dict[str, Any]:
    """Give one unit all of some cells, where it cannot be said how much a unit has at most."""
    top = made["top"].copy()
    top[cells] = 0.0
    top[cells, 0] = made["absolute"][cells]
    made["top"] = top
    if made["weight"] is not None:
        weight = made["weight"].copy()
        weight[cells] = 0.0
        weight[cells, 0] = 1.0
        made["weight"] = weight
    return made


@dataclass(frozen=True, eq=False)
class _Entries:
    """The largest contributions to groups one by one, each unit once in a group."""

    group: np.ndarray
    size: np.ndarray
    unit: np.ndarray
    weight: np.ndarray | None
    requested: np.ndarray | None
    cancelled: np.ndarray
    """By how much the absolute contributions to a group are less, as signs of a unit differ."""
    named: bool
    n: int

    @classmethod
    def of(cls, units: Contributions, grouping: Grouping) -> _Entries:
        """Return the contributions of the cells of a grouping."""
        listed = _listed(units)[grouping.rows]
        row, place = np.nonzero(listed)
        cell, group = grouping.rows[row], grouping.group[row]
        named = units.unit is not None
        # Without names the largest of each cell may be the same unit, and so on down the places.
        unit = np.where(
            grouping.shared[group], place, UNNAMED + np.arange(len(row))
        ) if units.unit is None else units.unit[cell, place]  # fmt: skip
        order = np.lexsort((unit, group))
        row, place, cell, group, unit = (a[order] for a in (row, place, cell, group, unit))
        first = np.r_[True, (np.diff(group) != 0) | (np.diff(unit) != 0)][: len(order)]
        start = np.flatnonzero(first)

        def total(numbers: np.ndarray) -> np.ndarray:
            return np.add.reduceat(numbers, start) if len(start) else numbers[:0]

        size = units.top[cell, place]
        amount = size if units.weight is None else size * units.weight[cell, place]
        together, weighted = total(size), total(amount)
        lost = total(np.abs(amount)) - np.abs(weighted)
        cancelled = np.bincount(group[start], lost, grouping.n) if named else np.zeros(grouping.n)
        weight = None
        if units.weight is not None:
            largest = np.maximum.reduceat(units.weight[cell, place], start) \
                if len(start) else units.weight[:0, 0]  # fmt: skip
            together, weight = weighed(together, weighted, largest)
        asked = units.requested
        requested = None if asked is None else np.maximum.reduceat(asked[cell, place], start) \
            if len(start) else asked[:0, 0]  # fmt: skip
        floor = np.where(units.n_units > units.depth, np.abs(units.top[:, -1]), 0.0)
        more = np.bincount(grouping.group, floor[grouping.rows], grouping.n)[group[start]]
        more = np.maximum(more - total(floor[cell]), 0.0)
        may = grouping.shared[group[start]] & (unit[start] < UNNAMED)
        grown = together + np.where(may, more, 0.0) * np.where(together < 0, -1.0, 1.0)
        return cls(
            group[start], grown, unit[start], weight, requested, cancelled, named, grouping.n
        )

    def largest(self, depth: int) -> dict[str, Any]:
        """Return the largest of each group, groups by places; ties go to the lower unit."""
        order = np.lexsort((self.unit, -np.abs(self.size), self.group))
        group = self.group[order]
        place = np.arange(len(order)) - np.searchsorted(group, group)
        kept = place < depth
        at, order = (group[kept], place[kept]), order[kept]

        def placed(numbers: np.ndarray | None, nothing: float) -> np.ndarray | None:
            if numbers is None:
                return None
            made = np.full((self.n, depth), nothing, dtype=numbers.dtype)
            made[at] = numbers[order]
            return made

        return {
            "top": placed(self.size, 0.0),
            "weight": placed(self.weight, 0.0),
            "unit": placed(self.unit, -1) if self.named else None,
            "requested": placed(self.requested, 0),
        }


def _listed(units: Contributions) -> np.ndarray:
    """Return which places of the largest contributions stand for a unit."""
    if units.unit is not None:
        return np.asarray(units.unit >= 0)
    return np.asarray(np.arange(units.depth) < units.n_units[:, None])


def shared_codes(table: Table) -> list[np.ndarray]:
    """Return for each dimension the codes among whose siblings a respondent may be in several.

    That is told by the totals: where the respondents of the parts are as many as those of their
    total, none is in two of them.
    """
    kinds = [u.n_units for u in (table.respondents, table.holdings) if u is not None]
    totals = np.zeros(len(table.dimensions), dtype=np.int64)
    made = []
    for axis, dimension in enumerate(table.dimensions):
        flags = np.zeros(len(dimension.codes), dtype=bool)
        others = np.delete(np.arange(len(totals)), axis)
        margin = np.flatnonzero((table.codes[:, others] == 0).all(axis=1))
        for parent, children in dimension.sums:
            for number in kinds:
                per_code = np.zeros(len(dimension.codes), dtype=np.int64)
                per_code[table.codes[margin, axis]] = number[margin]
                flags[children] |= per_code[children].sum() != per_code[parent]
        made.append(flags)
    return made
