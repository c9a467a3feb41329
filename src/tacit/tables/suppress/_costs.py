"""What it costs to leave a cell out: the quantity every suppression method keeps small."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.tables.table import Table

Cost = Literal["value", "unity", "value-and-cells", "frequency", "log-value", "distance", "user"]
"""How the loss of a suppressed cell is measured."""

LEAST = 1e-6
"""Share of the mean cost given to cells of no cost, so that none is suppressed for nothing."""


def cell_costs(table: Table, cost: Cost, primary: np.ndarray | None = None) -> np.ndarray:
    """Return a positive cost of suppressing each cell.

    Parameters
    ----------
    table
        The table.
    cost
        ``value``: its absolute value; ``unity``: 1, so that the fewest cells are suppressed;
        ``value-and-cells``: its absolute value and, for being a cell, the median of all values, so
        that of patterns of about the same value the one of fewer cells is taken; ``frequency``:
        its number of contributors; ``log-value``: log(1 + absolute value); ``distance``: steps in
        the hierarchy from the nearest sensitive cells, so that the pattern stays together;
        ``user``: the cost that came with the table.
    primary
        Sensitive cells, needed for ``distance``.
    """
    given = _raw_costs(table, cost, primary)
    if not np.isfinite(given).all() or (given < 0).any():
        bad = np.flatnonzero(~np.isfinite(given) | (given < 0))
        raise DataError(
            "the cost of suppressing a cell must be a number that is not negative",
            got=table.describe(bad),
        )
    mean = given.mean() if given.size else 0.0
    return np.asarray(np.maximum(given, LEAST * mean if mean > 0 else 1.0))


def _raw_costs(table: Table, cost: Cost, primary: np.ndarray | None) -> np.ndarray:
    if cost == "value":
        return np.asarray(np.abs(table.value), dtype=float)
    if cost == "unity":
        return np.ones(table.n_cells)
    if cost == "value-and-cells":
        return _value_and_cells(table)
    if cost == "log-value":
        return np.asarray(np.log1p(np.abs(table.value)))
    if cost == "frequency":
        return _frequency(table)
    if cost == "distance":
        return _distance(table, primary)
    if cost == "user":
        return _user(table)
    raise ParameterError("no such cost", got=cost)


def _value_and_cells(table: Table) -> np.ndarray:
    value = np.asarray(np.abs(table.value), dtype=float)
    return value + (np.median(value[value > 0]) if (value > 0).any() else 1.0)


def _frequency(table: Table) -> np.ndarray:
    if table.is_count:
        return np.asarray(np.abs(table.value), dtype=float)
    if table.count is None:
        raise DataError(
            "the cost 'frequency' needs the number of contributors of each cell",
            do="choose another cost, or build the table from microdata",
        )
    return np.asarray(table.count, dtype=float)


def _user(table: Table) -> np.ndarray:
    if table.cost is None:
        raise DataError("the cost 'user' needs a table that has costs", do="set table.cost")
    return np.asarray(table.cost, dtype=float)


def _distance(table: Table, primary: np.ndarray | None) -> np.ndarray:
    """Return 1 + the number of relations crossed from the nearest sensitive cell."""
    if primary is None or not primary.any():
        return np.ones(table.n_cells)
    touches = abs(table.relations)
    reached, steps = primary.copy(), np.where(primary, 1.0, np.inf)
    step = 1.0
    while not reached.all():
        step += 1.0
        near = (touches.T @ ((touches @ reached.astype(float)) > 0).astype(float)) > 0
        new = near & ~reached
        if not new.any():
            break
        steps[new] = step
        reached |= new
    return np.where(np.isfinite(steps), steps, step)
