"""A changed table in the steps of its source: whole steps in every cell, and sums that hold."""

from __future__ import annotations

import time

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._precision import Steps
from tacit.tables.rounding._controlled_search import round_relations
from tacit.tables.table import Table

_NEAR = 1e-4
"""Share of a step within which a solver's value is taken for a whole one."""
_REACHES = (0, 1, 4, 40)
"""How many steps beyond its two neighbouring multiples a cell may go, tried in turn."""
_BLOCK = 20_000


def in_steps(
    table: Table,
    published: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    steps: Steps,
    seconds: float,
) -> np.ndarray:
    """Return the nearest table of whole steps that adds up, each cell between its limits.

    Parameters
    ----------
    published
        A table that adds up and keeps the limits, in any numbers.
    low, high
        Limits of every cell, multiples of a step.
    seconds
        Time limit.
    """
    units = steps.units(published)
    units = np.where(np.abs(units - np.round(units)) < _NEAR, np.round(units), units)
    least, most = (np.round(steps.units(limit)) for limit in (low, high))
    found = np.round(units)
    if np.any(found < least) or np.any(found > most) or np.any(table.relations @ found):
        found = _searched(table, np.clip(units, least, most), least, most, seconds)
    return steps.beside(table.value, steps.values(found))


def _searched(
    table: Table, units: np.ndarray, least: np.ndarray, most: np.ndarray, seconds: float
) -> np.ndarray:
    until = time.perf_counter() + seconds
    for reach in _REACHES:
        lower = np.maximum(np.floor(units) - reach, least)
        upper = np.minimum(np.ceil(units) + reach, most)
        left = max(until - time.perf_counter(), 1.0)
        found = round_relations(table, units, lower, upper, _BLOCK, left)
        if found is not None and not found.n_missed:
            return found.units
    raise ProtectionError(
        "no safe table in the steps of the source was found, and others would tell what changed",
        do="keep fewer cells as they are, allow larger changes, or more seconds",
    )
