"""The integer programme of controlled rounding, whole or in blocks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.progress import track
from tacit.tables._linear_program import LinearProgram
from tacit.tables.table import Table

_GAP = 1e-3
"""Share by which a rounding may be further from the original than the nearest."""


@dataclass(frozen=True)
class Rounded:
    """Multiples of the base that add up."""

    units: np.ndarray
    optimal: bool
    n_blocks: int
    seconds: float


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
    everything = np.arange(table.n_cells)
    parts = _blocks(table) if table.n_cells > block else []
    if len(parts) > 1:
        units = _by_blocks(table, target, low, high, parts, seconds)
        # Sums across blocks, as linked tables can have, are in no stage: then all at once.
        if units is not None and not np.any(table.relations @ units):
            return Rounded(units, False, len(parts), time.perf_counter() - start)
    left = max(1.0, seconds - (time.perf_counter() - start))
    solved = _solve(table, everything, target, low, high, left)
    if solved is None:
        return None
    units, optimal = solved
    return Rounded(units, optimal, 1, time.perf_counter() - start)


def _solve(
    table: Table,
    cells: np.ndarray,
    target: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    seconds: float,
) -> tuple[np.ndarray, bool] | None:
    """Solve for some cells, all relations that lie among them being kept."""
    from scipy.sparse import csc_array

    matrix = _relations_among(table, cells)
    low, high, target = low[cells], high[cells], target[cells]
    narrow = np.all(high - low <= 1)
    if narrow:
        # |x - z| is linear between two neighbours: no further columns are needed.
        cost = (high - target) - (target - low)
        program = LinearProgram(
            csc_array(matrix), np.zeros(len(cells)), high - low, cost=cost,
            row_lower=-(matrix @ low), row_upper=-(matrix @ low), integer=True,
        )  # fmt: skip
        unit = low
    else:
        program, unit = _with_distances(matrix, target, low, high), np.zeros(len(cells))
    program.set_option("time_limit", seconds)
    program.set_option("mip_rel_gap", _GAP)
    status = program.solve()
    if not program.has_solution:
        return None
    return unit + np.round(program.values[: len(cells)]), status == "optimal"


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


def _relations_among(table: Table, cells: np.ndarray) -> Any:
    """Return the relations all of whose cells are among some."""
    from scipy.sparse import csr_array

    inside = np.zeros(table.n_cells, dtype=bool)
    inside[cells] = True
    relations = table.relations.tocsr()
    outside = np.asarray(abs(relations) @ (~inside).astype(float))
    return csr_array(relations[np.flatnonzero(outside == 0)][:, cells])


def _blocks(table: Table) -> list[np.ndarray]:
    """Return the cells at or below each code under the total of the widest dimension."""
    if not table.dimensions or len(table.codes) != table.n_cells:
        return []
    axis = int(np.argmax([len(d.codes) for d in table.dimensions]))
    dimension = table.dimensions[axis]
    tops = [children for parent, children in dimension.sums if parent == 0]
    if len(tops) != 1:
        return []
    contains = dimension.contains.toarray().astype(bool)
    code = table.codes[:, axis]
    parts = []
    for top in tops[0]:
        below = np.flatnonzero(~(contains & ~contains[top]).any(axis=1))
        parts.append(np.flatnonzero(np.isin(code, below)))
    return parts


def _by_blocks(
    table: Table,
    target: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    parts: list[np.ndarray],
    seconds: float,
) -> np.ndarray | None:
    """Round the totals above the blocks first, then each block below its rounded totals."""
    low, high = low.copy(), high.copy()
    inside = np.concatenate(parts)
    tops = [part[_tops(table, part)] for part in parts]
    above = np.setdiff1d(np.arange(table.n_cells), inside)
    first = np.concatenate([above, *tops])
    stages = [first, *parts]
    units = np.full(table.n_cells, np.nan)
    share = seconds / (len(stages) + 1)
    with track("rounding blocks", len(stages)) as advance:
        for cells in stages:
            solved = _solve(table, cells, target, low, high, share)
            if solved is None:
                return None
            units[cells] = solved[0]
            low[cells] = high[cells] = solved[0]
            advance(1)
    return units


def _tops(table: Table, part: np.ndarray) -> np.ndarray:
    """Return the places of the cells of a block that lie at its top code."""
    axis = int(np.argmax([len(d.codes) for d in table.dimensions]))
    depth = table.dimensions[axis].depth[table.codes[part, axis]]
    return np.flatnonzero(depth == depth.min())
