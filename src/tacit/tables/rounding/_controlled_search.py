"""Controlled rounding: one integer programme, or a search over the finest cells of large tables."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.tables._free_leaves import free_leaves
from tacit.tables._linear_program import LinearProgram
from tacit.tables.rounding._controlled_leaves import LeafSearch
from tacit.tables.rounding._controlled_program import GAP, UnitProgram
from tacit.tables.table import Table

_WIDE = 6
"""Cells of more choices than this get a column for their distance, not one per choice."""


@dataclass(frozen=True)
class Rounded:
    """Multiples of the base that add up."""

    units: np.ndarray
    optimal: bool
    in_blocks: bool
    seconds: float
    n_missed: int = 0
    """Cells that are further from their value than allowed; the table is then no result."""


def round_relations(
    table: Table,
    target: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    block: int,
    seconds: float,
) -> Rounded | None:
    """Return whole numbers between bounds, nearest to the target, that keep all relations."""
    start = time.perf_counter()
    deadline = start + seconds
    leaves = None
    if table.n_cells > block:
        leaves = free_leaves(table, np.ones(table.n_cells, dtype=bool))
    if leaves is None:
        solved = _solve(table, target, low, high, deadline - time.perf_counter())
        if solved is None:
            return None
        return Rounded(*solved, False, time.perf_counter() - start)
    search = LeafSearch(table, leaves, target, low, high, deadline)
    search.run()
    n_missed = int(np.count_nonzero(search.missed))
    return Rounded(search.units, False, True, time.perf_counter() - start, n_missed)


def _solve(
    table: Table, target: np.ndarray, low: np.ndarray, high: np.ndarray, seconds: float
) -> tuple[np.ndarray, bool] | None:
    """Solve the whole table at once."""
    if np.max(high - low, initial=0) <= _WIDE:
        program = UnitProgram(
            table.relations, low, high, lambda at, level: np.abs(level - target[at]),
            np.zeros(table.relations.shape[0]),
        )  # fmt: skip
        return program.solve(seconds)
    wide = _with_distances(table.relations, target, low, high)
    wide.set_option("time_limit", max(seconds, 0.1))
    wide.set_option("mip_rel_gap", GAP)
    status = wide.solve()
    if not wide.has_solution:
        return None
    return np.round(wide.values[: len(target)]), status == "optimal"


def _with_distances(
    matrix: Any, target: np.ndarray, low: np.ndarray, high: np.ndarray
) -> LinearProgram:
    """Return the programme with a column per distance, for cells of more than two choices."""
    from scipy.sparse import block_array, csc_array, eye_array

    n = len(target)
    identity = eye_array(n)
    # d >= x - z and d >= z - x
    stacked = block_array([[matrix, None], [identity, identity], [identity, -identity]])
    infinite = np.full(n, np.inf)
    zeros = np.zeros(matrix.shape[0])
    program = LinearProgram(
        csc_array(stacked), np.concatenate([low, np.zeros(n)]), np.concatenate([high, infinite]),
        cost=np.concatenate([np.zeros(n), np.ones(n)]),
        row_lower=np.concatenate([zeros, target, -infinite]),
        row_upper=np.concatenate([zeros, infinite, target]), integer=True,
    )  # fmt: skip
    kinds = program._highspy.HighsVarType
    distances = np.arange(n, 2 * n, dtype=np.int32)
    program.solver.changeColsIntegrality(
        n, distances, np.full(n, int(kinds.kContinuous), dtype=np.uint8)
    )
    return program
