"""The two phases of SAFE: a first table without ones and twos, then tighter bounds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tacit.core.progress import track

_HALF = 64
"""Deviations beyond this all cost the same."""
_BEYOND = 1e4
"""What a unit beyond a bound costs, against 1 for a unit within."""
_NEIGHBOURS = 20
"""How many neighbours of a cell are tried as its partner."""
_STEPS = 40
"""How many rounds of changes one bound may take."""
_REACH = 3
"""Largest change of one elementary count."""


@dataclass
class Elementary:
    """The table of all combinations that occur, and the controlled cells each belongs to."""

    codes: np.ndarray
    counts: np.ndarray
    columns: np.ndarray
    """For each combination its cell in each controlled table."""
    order: np.ndarray
    """Number of variables of each controlled table."""
    n_controlled: int

    @classmethod
    def of(cls, codes: np.ndarray, counts: np.ndarray, tables: list[tuple[int, ...]]) -> Elementary:
        """Return the table with the cells of every controlled table numbered."""
        from tacit.core.keys import group_ids

        columns = np.empty((len(codes), len(tables)), dtype=np.int32)
        n_cells = 0
        for t, variables in enumerate(tables):
            ids, size = (
                group_ids(np.ascontiguousarray(codes[:, list(variables)]))
                if variables
                else (np.zeros(len(codes), np.int64), 1)
            )
            columns[:, t] = ids + n_cells
            n_cells += size
        order = np.array([len(variables) for variables in tables])
        return cls(codes, counts.astype(np.int64), columns, order, n_cells)


def up_to(n_variables: int, order: int) -> list[tuple[int, ...]]:
    """Return the tables of at most `order` variables, the grand total included."""
    return [t for r in range(order + 1) for t in combinations(range(n_variables), r)]


def without_small(
    table: Elementary, rng: np.random.Generator, target: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts without 1 and 2, and the deviation of every controlled cell.

    Model (2) of giessing2011 first: every small count goes to 0 or 3, wherever the controlled
    cells deviate least; then model (3): the bound on their deviations is lowered while changes of
    one or two elementary counts still meet it.
    """
    from tacit.tables.perturb import _safe_kernel as kernel

    counts = table.counts.copy()
    deviation = np.zeros(table.n_controlled, dtype=np.int64)
    everything = np.arange(len(counts))
    costs = _costs(table, 5)
    with track("removing small counts", 10) as advance:
        for _ in range(10):
            changed = kernel.sweep(
                table.counts,
                counts,
                table.columns,
                deviation,
                costs,
                _HALF,
                _REACH,
                rng.permutation(everything),
            )
            advance(1)
            if not changed:
                break
    neighbours = _neighbours(table.codes)
    bound = int(np.abs(deviation).max(initial=0)) - 1
    with track("tightening bounds") as advance:
        while bound >= target and _meets(table, counts, deviation, bound, neighbours, rng):
            bound = int(np.abs(deviation).max(initial=0)) - 1
            advance(1)
    return counts, deviation


def _bounds(table: Elementary, bound: int) -> np.ndarray:
    """Return the bound of each table; those of one variable get about half, as SAFE does."""
    return np.where(table.order <= 1, (bound + 1) // 2, bound)


def _costs(table: Elementary, bound: int, beyond: float = 50.0) -> np.ndarray:
    """Return what each deviation costs in each table: its square, and much more beyond a bound."""
    size = np.abs(np.arange(-_HALF, _HALF + 1)).astype(float)
    over = np.maximum(0.0, size - _bounds(table, bound)[:, None])
    return np.asarray(size**2 + beyond * over**2)


def _meets(
    table: Elementary,
    counts: np.ndarray,
    deviation: np.ndarray,
    bound: int,
    neighbours: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> bool:
    """Change counts until every controlled cell is within the bound; put back what failed."""
    from tacit.tables.perturb import _safe_kernel as kernel

    before = counts.copy(), deviation.copy()
    costs, bounds = _costs(table, bound, _BEYOND), _bounds(table, bound)
    fixed = (table.counts, counts, table.columns, deviation, costs, _HALF, _REACH)
    fewest, stale = np.inf, 0
    for _ in range(_STEPS):
        wide = kernel.touching(table.columns, deviation, bounds)
        changed = kernel.sweep(*fixed, rng.permutation(wide))
        wide = kernel.touching(table.columns, deviation, bounds)
        if not len(wide):
            return True
        changed += kernel.pair_sweep(*fixed, rng.permutation(wide)[:2000], *neighbours, _NEIGHBOURS)
        stale = 0 if len(wide) < fewest else stale + 1
        fewest = min(fewest, len(wide))
        if not changed or stale > 4:
            break
    if not len(kernel.touching(table.columns, deviation, bounds)):
        return True
    counts[:], deviation[:] = before
    return False


def _neighbours(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group the combinations that agree in all variables but one, for each variable."""
    from tacit.core.keys import group_ids

    n, n_variables = codes.shape
    group = np.empty((n, n_variables), dtype=np.int64)
    start = np.zeros((n_variables, n + 2), dtype=np.int64)
    member = np.empty((n_variables, n), dtype=np.int64)
    for v in range(n_variables):
        others = np.ascontiguousarray(np.delete(codes, v, axis=1))
        ids, size = group_ids(others) if n_variables > 1 else (np.zeros(n, np.int64), 1)
        group[:, v] = ids
        member[v] = np.argsort(ids, kind="stable")
        start[v, 1 : size + 1] = np.cumsum(np.bincount(ids, minlength=size))
    return group, start, member
