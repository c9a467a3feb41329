"""Which cells a user means: codes by dimension, lists of them, a frame, flags or positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import SchemaError, nearest
from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from tacit.tables.table import Table

CellChoice = Any
"""Codes by dimension, a list of such choices, a frame, one flag per cell, or positions."""
_PACKED = 2**62


def code_keys(codes: np.ndarray, dimensions: Sequence[Dimension]) -> np.ndarray:
    """Return one number per row of codes, equal rows having equal numbers."""
    sizes = [len(d.codes) for d in dimensions]
    if prod(sizes) > _PACKED:
        raise SchemaError(
            "the table has too many combinations of codes to be numbered",
            got=" x ".join(map(str, sizes)),
            do="leave out a dimension",
        )
    packed = np.zeros(len(codes), dtype=np.int64)
    for j, size in enumerate(sizes):
        packed = packed * size + codes[:, j]
    return packed


def chosen_cells(table: Table, choice: CellChoice) -> np.ndarray:
    """Return the positions of the cells a user means.

    Raises
    ------
    SchemaError
        If there is no such dimension, code or cell; it is named.
    """
    if isinstance(choice, Mapping):
        return _found(table, _rows(table, choice))
    if isinstance(choice, np.ndarray) or np.isscalar(choice):
        return _from_numbers(table, np.atleast_1d(choice))
    if isinstance(choice, list | tuple):
        return _from_list(table, choice)
    return _found(table, _frame_rows(table, choice))


def _from_numbers(table: Table, given: np.ndarray) -> np.ndarray:
    """Read flags (one per cell) or positions."""
    if given.dtype == bool:
        if len(given) != table.n_cells:
            raise SchemaError(
                "one flag per cell is needed", got=f"{len(given)} for {table.n_cells} cells"
            )
        return np.flatnonzero(given)
    if given.dtype.kind not in "iu":
        raise SchemaError("cells are chosen by codes, flags or positions", got=repr(given[:3]))
    wrong = given[(given < 0) | (given >= table.n_cells)]
    if len(wrong):
        raise SchemaError("the table has no such cell", got=f"position {wrong[0]}")
    return given.astype(np.int64)


def _from_list(table: Table, choices: Sequence[Any]) -> np.ndarray:
    if not choices:
        return np.empty(0, dtype=np.int64)
    if all(isinstance(one, Mapping) for one in choices):
        return np.concatenate([chosen_cells(table, one) for one in choices])
    if all(isinstance(one, str) for one in choices) and not table.dimensions:
        return _named(table, choices)
    return _from_numbers(table, np.asarray(choices))


def _named(table: Table, names: Sequence[str]) -> np.ndarray:
    place = {name: i for i, name in enumerate(table.names)}
    for name in names:
        if name not in place:
            raise SchemaError(f"the table has no cell {name!r}", do=nearest(name, place))
    return np.array([place[name] for name in names], dtype=np.int64)


def _rows(table: Table, choice: Mapping[str, Any]) -> np.ndarray:
    """Return the rows of codes that a choice by dimension stands for."""
    names = [d.name for d in table.dimensions]
    for name in choice:
        if name not in names:
            raise SchemaError(f"there is no dimension {name!r}", do=nearest(name, names))
    wanted = [_wanted(d, choice.get(d.name, d.total)) for d in table.dimensions]
    return np.array(list(product(*wanted)), dtype=np.int64).reshape(-1, len(names))


def _wanted(dimension: Dimension, codes: Any) -> list[int]:
    if codes is None:
        return list(range(len(dimension.codes)))
    several = [codes] if isinstance(codes, str) or not isinstance(codes, Iterable) else codes
    return [_place(dimension, str(code)) for code in several]


def _place(dimension: Dimension, code: str) -> int:
    if code not in dimension.index:
        raise SchemaError(
            f"{dimension.name!r} has no code {code!r}", do=nearest(code, dimension.codes)
        )
    return dimension.index[code]


def _frame_rows(table: Table, frame: Any) -> np.ndarray:
    """Return the rows of codes that a frame of any kind names."""
    from tacit.core.frame import collect, enter

    local = collect(enter(frame)[0])
    for dimension in table.dimensions:
        if dimension.name not in local.columns:
            raise SchemaError(
                f"there is no column {dimension.name!r}", do=nearest(dimension.name, local.columns)
            )
    columns = [
        [_place(dimension, str(code)) for code in local[dimension.name].to_list()]
        for dimension in table.dimensions
    ]
    return np.array(columns, dtype=np.int64).reshape(len(columns), -1).T


def _found(table: Table, rows: np.ndarray) -> np.ndarray:
    """Return where rows of codes stand in the table."""
    packed, order = table.keys
    wanted = code_keys(rows, table.dimensions)
    at = np.minimum(np.searchsorted(packed, wanted), len(packed) - 1)
    missing = np.flatnonzero(packed[at] != wanted) if len(packed) else np.arange(len(rows))
    if len(missing):
        codes = zip(table.dimensions, rows[missing[0]], strict=True)
        raise SchemaError(
            "the table has no such cell", got=", ".join(d.codes[int(c)] for d, c in codes)
        )
    return np.asarray(order[at])
