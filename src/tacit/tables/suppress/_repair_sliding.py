"""Intervals that slide: a width may lie on either side of a cell, wherever the pattern has room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._levels import required_levels
from tacit.tables._linear_program import LinearProgram
from tacit.tables.suppress._repair_problem import EMPTY, Needs, Problem

if TYPE_CHECKING:
    from tacit.tables.suppress._repair_search import Search

SLACK = 1e-6
"""Share of a requirement that may be missing for rounding's sake."""


def slide(search: Search, needs: Sequence[int], usable: np.ndarray) -> bool:
    """Divide the widths that some needs belong to anew, as far as usable cells (flags) can move.

    The needs of the cells it concerns lose their proofs; the caller looks for them again.

    Returns
    -------
    bool
        Whether each of the needs belongs to a width that can be divided otherwise.
    """
    problem = search.problem
    cells = np.unique(problem.needs.cell[np.asarray(needs, dtype=np.int64)])
    levels = required_levels(problem.table, problem.sensitive)
    below, above, width = (
        side[problem.cells[cells]] for side in (levels.below, levels.above, levels.width)
    )
    if not len(cells) or (width <= (below + above) * (1 + SLACK)).any():
        return False
    up, down = _furthest(problem, cells, usable).T
    fits = (up >= above * (1 - SLACK)) & (down >= below * (1 - SLACK))
    if not (fits & (up + down >= width * (1 - SLACK))).all():
        return False
    # As much upwards as there is, but no more than leaves the level below.
    new_up = np.minimum(up, width - below)
    _divide(search, cells, new_up, np.minimum(np.maximum(width - new_up, below), down))
    return True


def _furthest(problem: Problem, cells: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Return how far some cells can move up and down, one by one, by usable cells alone."""
    top = max(float(np.median(np.abs(problem.table.value[problem.cells]))), 1.0)
    up, down = np.where(usable, problem.up, 0.0), np.where(usable, problem.down, 0.0)
    program = LinearProgram(problem.columns, -down / top, up / top)
    found = np.empty((len(cells), 2))
    for k, cell in enumerate(cells):
        for side, sign in enumerate((1.0, -1.0)):
            program.set_cost(cell, -sign)
            status = program.solve()
            room = (up, down)[side][cell]
            found[k, side] = sign * program.values[cell] * top if status == "optimal" else 0.0
            found[k, side] = np.inf if status == "unbounded" else min(found[k, side], room)
        program.set_cost(cell, 0.0)
    return found


def _divide(search: Search, cells: np.ndarray, up: np.ndarray, down: np.ndarray) -> None:
    """Ask some cells for given movements in place of those asked for so far."""
    needs = search.problem.needs
    amount = needs.amount.copy()
    more: list[tuple[int, float, float]] = []
    for cell, *sides in zip(cells.tolist(), up, down, strict=True):
        for sign, asked in zip((1.0, -1.0), sides, strict=True):
            at = np.flatnonzero((needs.cell == cell) & (needs.sign == sign))
            for need in at:
                search.pattern.release(int(need))
            amount[at] = asked
            if not len(at) and asked > 0:
                more.append((cell, asked, sign))
    search.problem = replace(search.problem, needs=replace(needs, amount=amount))
    search.pattern.problem = search.problem
    search.drop(np.flatnonzero(amount <= 0).tolist())
    if more:
        at, amounts, signs = (np.array(side) for side in zip(*more, strict=True))
        search.add(Needs(at.astype(np.int64), amounts, signs, [EMPTY] * len(more)))
