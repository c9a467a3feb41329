"""Patterns by elimination: circuits of cells that can move together."""

from __future__ import annotations

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._repair_problem import Problem, problem_of, to_suppress
from tacit.tables.table import Table

MOST_ENTRIES = 400_000_000
"""Entries of the elimination after which it gives up: about 6 GB."""


def elimination_pattern(table: Table, sensitive: Sensitive, cost: np.ndarray) -> np.ndarray:
    """Return suppressed cells under which no sensitive cell is a combination of published ones.

    Raises
    ------
    ProtectionError
        If some sensitive cells follow from cells that must be published.
    """
    unsafe = np.empty(0, dtype=np.int64)
    for empty in (False, True):
        problem = problem_of(table, sensitive, cost, empty=empty)
        asked = problem.place(to_suppress(table, sensitive)[0].cells)
        hidden, unsafe = _circuits(problem, asked, np.ones(problem.n_cells, dtype=bool))
        if not len(unsafe):
            again, _ = _circuits(problem, asked, hidden)
            return problem.spread(again)
        if unsafe[0] < 0:
            raise ProtectionError(
                "the elimination fills up and does not fit in memory",
                got=f"{problem.n_cells:,} cells",
                do="use SuppressModular",
            )
    raise ProtectionError(
        "some sensitive cells follow from cells that must be published",
        got=table.describe(problem.cells[unsafe]),
        do="unfreeze cells around them, or collapse categories (redesign)",
    )


def _circuits(
    problem: Problem, asked: np.ndarray, usable: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return suppressed cells, and sensitive cells that stay exposed, using only some cells."""
    from tacit.tables.suppress import _elimination_kernel as kernel

    rank = np.where(problem.fixed, -1.0, problem.cost)
    among = np.flatnonzero(usable | problem.fixed)
    order = among[np.argsort(rank[among], kind="stable")]
    a = problem.columns
    with track("eliminating"):
        kept, unsafe = kernel.circuits(
            order, a.indptr, a.indices, a.data, problem.n_rows, asked, MOST_ENTRIES
        )
    return kept | problem.fixed, unsafe
