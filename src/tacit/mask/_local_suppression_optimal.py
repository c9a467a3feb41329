"""Local suppression of least cost, as a mixed integer program, for small files.

Where a missing value may be anything: y_ic = 1 blanks column c of record i, z_ij = 1 makes records
i and j compatible. Only records at risk lose values. Two records that differ in c become compatible
by blanking c in one of them:

    minimise sum cost_c y_ic   s.t.  z_ij <= y_ic + y_jc  for each c in which i and j differ,
                                     sum_j z_ij >= k - a_i  with a_i compatible already.

With y whole, each z is bounded by a whole number, so z may be continuous.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.keys import MISSING_CODE

_NODES = 300
"""Branches looked at, at most: a count, since a limit of time would make results depend on load."""


def suppress_optimally(
    codes: np.ndarray,
    positions: list[list[int]],
    k: int,
    costs: np.ndarray,
    exempt: Sequence[np.ndarray] | None = None,
) -> np.ndarray | None:
    """Return which values to blank at least cost, the best found in a bounded search, or None.

    With `exempt`, the records that it marks for a combination need no protection there.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    program = _Program(codes, costs)
    marks = exempt or [np.zeros(len(codes), dtype=bool)] * len(positions)
    short = [
        np.where(free, 0, k - _compatible(codes[:, columns]))
        for columns, free in zip(positions, marks, strict=True)
    ]
    program.at_risk = np.any(np.array(short) > 0, axis=0)
    for columns, lack in zip(positions, short, strict=True):
        program.protect(columns, lack)
    if not program.lower:
        return np.zeros(codes.shape, dtype=bool)
    rows, columns_at, values = (np.array(part) for part in zip(*program.entries, strict=True))
    shape = (len(program.lower), program.n_variables)
    matrix = coo_array((values, (rows.astype(int), columns_at.astype(int))), shape=shape)
    solved = milp(
        c=np.array(program.objective),
        constraints=LinearConstraint(matrix.tocsr(), lb=np.array(program.lower)),
        integrality=np.array(program.whole),
        bounds=Bounds(0, 1),
        options={"node_limit": _NODES},
    )
    if solved.x is None:
        return None
    blank = np.zeros(codes.shape, dtype=bool)
    for (i, c), at in program.blanks.items():
        blank[i, c] = solved.x[at] > 0.5
    return blank


def _differ(part: np.ndarray) -> np.ndarray:
    """Mark, for each pair of records, the columns in which they surely differ."""
    known = part != MISSING_CODE
    return np.asarray((part[:, None] != part[None]) & known[:, None] & known[None])


def _compatible(part: np.ndarray) -> np.ndarray:
    """Count the records that may equal each record."""
    return np.asarray((~_differ(part).any(axis=2)).sum(axis=1))


class _Program:
    """Variables and rows of the program, as they are asked for."""

    def __init__(self, codes: np.ndarray, costs: np.ndarray) -> None:
        self.codes, self.costs = codes, costs
        self.at_risk = np.zeros(len(codes), dtype=bool)
        self.objective: list[float] = []
        self.whole: list[int] = []
        self.blanks: dict[tuple[int, int], int] = {}
        self.entries: list[tuple[int, int, float]] = []
        self.lower: list[float] = []

    @property
    def n_variables(self) -> int:
        return len(self.objective)

    def protect(self, columns: list[int], lack: np.ndarray) -> None:
        """Ask that so many more records may equal each record on these columns."""
        if (lack <= 0).all():
            return
        pairs = self._pairs(_differ(self.codes[:, columns]), columns)
        for i in np.flatnonzero(lack > 0):
            row = self._row(float(lack[i]))
            self.entries += [(row, z, 1.0) for (a, b), z in pairs.items() if int(i) in (a, b)]

    def _pairs(self, differ: np.ndarray, columns: list[int]) -> dict[tuple[int, int], int]:
        """Return a variable for each pair of records that blanking can make compatible."""
        pairs = {}
        kept = np.isinf(self.costs[columns])
        for i, j in zip(*np.triu_indices(len(differ), 1), strict=True):
            apart = np.flatnonzero(differ[i, j])
            touched = [int(r) for r in (i, j) if self.at_risk[r]]
            if not len(apart) or kept[apart].any() or not touched:
                continue
            z = self._variable(0.0, whole=False)
            pairs[int(i), int(j)] = z
            for c in (columns[a] for a in apart):
                row = self._row(0.0)
                blanks = [(row, self._blank(r, c), 1.0) for r in touched]
                self.entries += [(row, z, -1.0), *blanks]
        return pairs

    def _blank(self, i: int, c: int) -> int:
        if (i, c) not in self.blanks:
            self.blanks[i, c] = self._variable(float(self.costs[c]), whole=True)
        return self.blanks[i, c]

    def _variable(self, cost: float, *, whole: bool) -> int:
        self.objective.append(cost)
        self.whole.append(int(whole))
        return self.n_variables - 1

    def _row(self, lower: float) -> int:
        self.lower.append(lower)
        return len(self.lower) - 1
