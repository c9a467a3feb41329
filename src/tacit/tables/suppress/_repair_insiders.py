"""Respondents who know their own cell: further proofs that leave these cells alone."""

from __future__ import annotations

import numpy as np

from tacit.tables._audit_insiders import single_respondents
from tacit.tables.suppress._repair_pattern import Pattern
from tacit.tables.suppress._repair_problem import Needs, Problem


def insider_needs(pattern: Pattern, *, apart: bool = False) -> Needs:
    """Return what must still be proved so that no single respondent can undo a neighbour.

    A respondent alone in a suppressed cell knows it, and attacks the sensitive cells that share a
    relation with it. A need holds against them when one of its proofs moves none of their cells.

    Parameters
    ----------
    pattern
        The pattern so far.
    apart
        Ask for a proof against each respondent by itself, not one against all of them.
    """
    problem = pattern.problem
    asked = problem.needs
    groups = _groups(problem, pattern.hidden)
    owner = np.full(problem.n_cells, -1, dtype=np.int64)
    for name, cells in enumerate(groups):
        owner[cells] = name
    beside = _beside(problem, owner)
    proofs = _proofs_by_need(pattern)
    found: list[tuple[int, np.ndarray]] = []
    for (cell, _), needs in proofs.items():
        against = beside.get(cell, set()) - {int(owner[cell])}
        for need in needs:
            if not against:
                break
            against &= set(owner[pattern.cells[need]].tolist())
        if against:
            first = needs[0]
            sets = [groups[k] for k in sorted(against)]
            for known in sets if apart else [np.concatenate(sets)]:
                found.append((first, known[known != cell]))
    at = np.array([need for need, _ in found], dtype=np.int64)
    return Needs(asked.cell[at], asked.amount[at], asked.sign[at], [known for _, known in found])


def _groups(problem: Problem, hidden: np.ndarray) -> list[np.ndarray]:
    """Return the open cells that each single respondent knows."""
    place = np.full(problem.table.n_cells, -1, dtype=np.int64)
    place[problem.cells] = np.arange(problem.n_cells)
    insiders = single_respondents(problem.table, problem.spread(hidden))
    return [place[cells] for cells in insiders.known]


def _beside(problem: Problem, owner: np.ndarray) -> dict[int, set[int]]:
    """Return for each cell asked for the respondents with a cell in one of its relations."""
    asked = np.unique(problem.needs.cell)
    single = np.flatnonzero(owner >= 0)
    touches = abs(problem.columns)
    shared = (touches[:, asked].T @ touches[:, single]).tocoo()
    out: dict[int, set[int]] = {}
    for i, j in zip(asked[shared.coords[0]], owner[single[shared.coords[1]]], strict=True):
        out.setdefault(int(i), set()).add(int(j))
    return out


def _proofs_by_need(pattern: Pattern) -> dict[tuple[int, float], list[int]]:
    """Return the needs of each cell and side, the plain one first."""
    asked = pattern.problem.needs
    out: dict[tuple[int, float], list[int]] = {}
    for need, (cell, sign) in enumerate(zip(asked.cell, asked.sign, strict=True)):
        if pattern.cells[need] is not None:
            out.setdefault((int(cell), float(sign)), []).append(need)
    return out
