"""Two codes of a dimension made one: the cells, contributions and sums that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.tables._grid import sparse_relations
from tacit.tables.contributions import Contributions
from tacit.tables.dimension import Dimension
from tacit.tables.table import Table


def merged_code(dimension: Dimension, one: int, two: int) -> str:
    """Return the code of two codes taken together."""
    return f"{dimension.codes[one]}+{dimension.codes[two]}"


def merged_dimension(dimension: Dimension, one: int, two: int) -> tuple[Dimension, np.ndarray]:
    """Return the classification with two codes made one, and the new place of each old code.

    Where the two were all there was below a code, that code takes their place.
    """
    name = merged_code(dimension, one, two)
    old = {dimension.codes[one], dimension.codes[two]}
    groups, lone = [], None
    for parent, children in dimension.groups:
        left = list(dict.fromkeys(name if c in old else c for c in children))
        if left == [name]:
            lone = parent
            continue
        groups.append((parent, tuple(left)))
    into = name if lone is None else lone
    codes = [
        c if c not in old else into
        for c in dimension.codes
        if c not in old or (lone is None and c == dimension.codes[min(one, two)])
    ]
    labels = {c: label for c, label in dimension.labels.items() if c not in old}
    new = Dimension(name=dimension.name, codes=tuple(codes), groups=tuple(groups), labels=labels)
    place = [new.index[into if c in old else c] for c in dimension.codes]
    return new, np.array(place)


def paired_cells(table: Table, axis: int, one: int, two: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells at either code, those alike in other dimensions side by side, else -1."""
    others = np.delete(table.codes, axis, axis=1)
    first = np.flatnonzero(table.codes[:, axis] == one)
    second = np.flatnonzero(table.codes[:, axis] == two)
    keys, inverse = np.unique(
        np.concatenate([others[first], others[second]]), axis=0, return_inverse=True
    )
    left, right = np.full(len(keys), -1), np.full(len(keys), -1)
    left[inverse.ravel()[: len(first)]] = first
    right[inverse.ravel()[len(first) :]] = second
    return left, right


def sum_of_pairs(table: Table, left: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Return what a table holds per cell, for pairs of its cells taken together."""

    def total(given: np.ndarray | None) -> np.ndarray | None:
        return None if given is None else _added(given, left, right)

    def both(given: np.ndarray | None) -> np.ndarray | None:
        if given is None:
            return None
        return np.asarray(((left < 0) | given[left]) & ((right < 0) | given[right]))

    def either(given: np.ndarray | None) -> np.ndarray | None:
        if given is None:
            return None
        return np.asarray(((left >= 0) & given[left]) | ((right >= 0) & given[right]))

    parts: dict[str, Any] = {
        name: total(getattr(table, name))
        for name in ("value", "count", "weighted_count", "lower", "upper", "cost")
    }
    parts |= {"frozen": either(table.frozen), "forced": either(table.forced)}
    parts["waived"] = both(table.waived)
    for name in ("respondents", "holdings"):
        units = getattr(table, name)
        parts[name] = None if units is None else _joined(units, left, right)
    parts["sums"] = {name: total(given) for name, given in table.sums.items()}
    return parts


def _joined(units: Contributions, left: np.ndarray, right: np.ndarray) -> Contributions:
    """Return the largest contributions to pairs of cells; those of one unit are added up."""

    def side(given: np.ndarray | None, cells: np.ndarray, nothing: float) -> Any:
        if given is None:
            return None
        there = (cells >= 0).reshape((-1,) + (1,) * (given.ndim - 1))
        return np.where(there, given[cells], nothing).astype(given.dtype)

    fields = {"top": 0, "weight": 0, "unit": -1, "requested": False}
    a, b = (
        {name: side(getattr(units, name), cells, none) for name, none in fields.items()}
        for cells in (left, right)
    )
    n = _added(units.n_units, left, right)
    if a["unit"] is not None:
        n = n - _add_up_same(a, b)
    both = {
        name: np.concatenate([a[name], b[name]], axis=1)
        for name in fields
        if getattr(units, name) is not None
    }
    order = np.argsort(-np.abs(both["top"]), axis=1, kind="stable")[:, : units.depth]
    taken: dict[str, Any] = {
        name: np.take_along_axis(given, order, axis=1) for name, given in both.items()
    }
    if units.net is not None:
        taken["net"] = _added(units.net, left, right)
    return Contributions(n_units=n, absolute=_added(units.absolute, left, right), **taken)


def _added(given: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(left >= 0, given[left], 0) + np.where(right >= 0, given[right], 0))


def _add_up_same(a: dict[str, Any], b: dict[str, Any]) -> np.ndarray:
    """Move what a unit contributes to the second cell to its place in the first; count them."""
    same = (a["unit"][:, :, None] == b["unit"][:, None, :]) & (a["unit"][:, :, None] >= 0)
    a["top"] = a["top"] + (same * b["top"][:, None, :]).sum(axis=2)
    moved = same.any(axis=1)
    b["top"] = np.where(moved, 0, b["top"])
    b["unit"] = np.where(moved, -1, b["unit"])
    return np.asarray(moved.sum(axis=1))


def with_codes_merged(table: Table, axis: int, one: int, two: int) -> Table:
    """Return the table with two codes of a dimension made one."""
    dimension, place = merged_dimension(table.dimensions[axis], one, two)
    vanished = len(dimension.codes) < len(table.dimensions[axis].codes) - 1
    left, right = paired_cells(table, axis, one, two)
    untouched = np.flatnonzero(~np.isin(table.codes[:, axis], [one, two]))
    alone = np.full(len(untouched), -1)
    if vanished:
        left, right = left[:0], right[:0]
    left, right = np.concatenate([untouched, left]), np.concatenate([alone, right])
    codes = table.codes[np.where(left >= 0, left, right)].copy()
    codes[:, axis] = place[codes[:, axis]]
    order = np.lexsort(codes.T[::-1])
    codes = codes[order]
    dimensions = tuple(dimension if k == axis else d for k, d in enumerate(table.dimensions))
    parts = sum_of_pairs(table, left[order], right[order])
    relations = sparse_relations(codes, dimensions)
    return Table(
        relations=relations, dimensions=dimensions, codes=codes, variable=table.variable, **parts
    )
