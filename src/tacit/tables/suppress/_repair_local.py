"""Small programmes around a few cells, everything farther away staying where it is."""

from __future__ import annotations

import numpy as np

from tacit.tables.suppress._repair_changes import Changes
from tacit.tables.suppress._repair_problem import Problem

Graph = tuple[np.ndarray, np.ndarray, int]
"""Columns of cells: pointers, relations, and how many relations there are."""


class Surroundings:
    """Cuts neighbourhoods out of a problem. A change found in one holds in the whole table."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._missing = np.full(problem.n_cells, -1, dtype=np.int64)
        self._crossed = np.zeros(problem.n_rows, dtype=np.int8)
        self._row_name = np.full(problem.n_rows, -1, dtype=np.int64)

    def near(self, cells: np.ndarray, usable: np.ndarray, limit: int) -> np.ndarray:
        """Return some cells and the usable ones around them that share most relations."""
        from tacit.tables._ball_kernel import ball

        a, b = self.problem.columns, self.problem.rows
        found = ball(
            cells,
            usable,
            a.indptr,
            a.indices,
            b.indptr,
            b.indices,
            self._missing,
            self._crossed,
            limit,
        )
        return np.asarray(found)

    def movable(self, cells: np.ndarray) -> np.ndarray:
        """Return those of some cells that can move while all others stay."""
        from tacit.tables.suppress import _repair_kernel as kernel

        a, b, problem = self.problem.columns, self.problem.rows, self.problem
        kept = kernel.movable(
            cells, a.indptr, a.indices, b.indptr, b.indices, problem.n_cells, problem.n_rows
        )
        return np.asarray(cells[kept])

    def program(self, cells: np.ndarray) -> tuple[Changes, Graph]:
        """Return the programme of some cells, and how relations join them."""
        from scipy.sparse import csc_array

        from tacit.tables.suppress import _repair_kernel as kernel

        a, problem = self.problem.columns, self.problem
        indptr, rows, data, n_rows = kernel.local_columns(
            cells, a.indptr, a.indices, a.data, self._row_name
        )
        matrix = csc_array((data, rows, indptr), shape=(n_rows, len(cells)))
        program = Changes(matrix, problem.up[cells].copy(), problem.down[cells].copy())
        return program, (indptr, rows, n_rows)
