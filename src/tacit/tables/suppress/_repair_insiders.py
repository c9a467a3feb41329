"""Respondents who know their own cell: further proofs that leave these cells alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tacit.tables._audit_insiders import excused_pairs, single_respondents
from tacit.tables._audit_prior import Beforehand
from tacit.tables.suppress._repair_pattern import SLACK, Pattern
from tacit.tables.suppress._repair_problem import Needs, Problem

Side = tuple[int, float]
"""A sensitive cell and the side on which it must be able to move."""
Who = tuple[int, ...]
"""A respondent, named by the open cells it knows: with other cells it is another intruder."""


@dataclass(eq=False)
class Limits:
    """What further proofs may ask for."""

    most: dict[Side, int] = field(default_factory=dict)
    """Against how many respondents one proof is asked for at most; all at once unless given."""
    least: dict[tuple[int, float, Who], float] = field(default_factory=dict)
    """How far a cell must move against a respondent, where that is less than usual."""

    def halve(self, side: Side, n: int) -> None:
        """Ask for proofs against half as many respondents next time."""
        self.most[side] = max(min(self.most.get(side, n), n) // 2, 1)


def insider_needs(pattern: Pattern, limits: Limits) -> tuple[Needs, list[int]]:
    """Return what must still be proved so that no single respondent undoes a sensitive cell.

    A respondent alone in a suppressed cell knows it. A need holds against all respondents whose
    cells one of its proofs does not move, wherever these cells stand; a further proof is asked
    that leaves alone what the others know.

    Parameters
    ----------
    pattern
        The pattern so far.
    limits
        Against how many respondents a proof is asked for, and how far.

    Returns
    -------
    tuple
        The needs, and how many respondents each is against.
    """
    found: list[tuple[int, float, np.ndarray]] = []
    sizes: list[int] = []
    for one in open_respondents(pattern):
        least = {who: limits.least.get((*one.side, who)) for who in one.known}
        for who, amount in least.items():
            if amount:
                found.append((one.need, amount, one.known[who]))
                sizes.append(1)
        rest = [known for who, known in one.known.items() if least[who] is None]
        step = max(limits.most.get(one.side, len(rest)), 1)
        for chunk in (rest[k : k + step] for k in range(0, len(rest), step)):
            amount = float(pattern.problem.needs.amount[one.need])
            found.append((one.need, amount, np.concatenate(chunk)))
            sizes.append(len(chunk))
    return as_needs(pattern.problem.needs, found), sizes


@dataclass(frozen=True, eq=False)
class Open:
    """A side that some respondents can still undo."""

    side: Side
    need: int
    """The need of that side, whoever the intruder is."""
    known: dict[Who, np.ndarray]
    """The cells that each such respondent knows."""


def open_respondents(pattern: Pattern) -> list[Open]:
    """Return the sides with the respondents whose cells every proof of the side moves."""
    groups, excused = _respondents(pattern)
    owner = np.full(pattern.problem.n_cells, -1, dtype=np.int64)
    for name, cells in enumerate(groups):
        owner[cells] = name
    found = []
    for side, needs in _proofs_by_need(pattern).items():
        cell = side[0]
        pardoned = {-1, int(owner[cell]), *excused.get(cell, ())}
        met = {owner[known[0]] for known in _met(pattern, needs) if _is_one(groups, owner, known)}
        against = sorted(_touched(pattern, needs, owner) - met - pardoned)
        if against:
            known = {tuple(groups[name].tolist()): groups[name] for name in against}
            found.append(Open(side, needs[0], known))
    return found


def respondents_cells(pattern: Pattern) -> np.ndarray:
    """Return the cells (flags) in which some respondent is alone."""
    problem = pattern.problem
    flags = np.zeros(problem.table.n_cells, dtype=bool)
    for cells in single_respondents(problem.table, problem.spread(pattern.hidden)).known:
        flags[cells] = True
    return problem.place(flags)


def known_beforehand(
    problem: Problem, prior: Beforehand, side: Side, known: np.ndarray, amount: float
) -> float | None:
    """Return how far a cell can move for all someone knows beforehand, if that is less than asked.

    That is 0 where it knows the cell, and nothing where all that is asked for can be.
    """
    cell, sign = side
    reach = prior.reach(int(problem.cells[cell]), sign, problem.cells[known], amount)
    if reach >= amount * (1 - 1e-6):
        return None
    size = max(abs(float(problem.table.value[problem.cells[cell]])), 1.0)
    return reach * (1 - 1e-7) if reach > 1e-9 * size else 0.0


def as_needs(asked: Needs, found: list[tuple[int, float, np.ndarray]]) -> Needs:
    """Return further needs: beside which one, how far, and what the intruder knows."""
    at = np.array([need for need, _, _ in found], dtype=np.int64)
    amount = np.array([amount for _, amount, _ in found], dtype=float)
    return Needs(asked.cell[at], amount, asked.sign[at], [places for _, _, places in found])


def _touched(pattern: Pattern, needs: list[int], owner: np.ndarray) -> set[int]:
    """Return the respondents whose cells every proof of all that a side asks for moves."""
    every = [set(owner[pattern.cells[k]].tolist()) for k in needs if _is_full(pattern, needs, k)]
    return set.intersection(*every)


def _met(pattern: Pattern, needs: list[int]) -> list[np.ndarray]:
    """Return what is known of whom less was asked for, and proved."""
    known = pattern.problem.needs.known
    return [known[k] for k in needs if not _is_full(pattern, needs, k)]


def _is_one(groups: list[np.ndarray], owner: np.ndarray, known: np.ndarray) -> bool:
    """Whether some cells are all that one respondent knows now."""
    name = int(owner[known[0]])
    return name >= 0 and np.array_equal(groups[name], known)


def _is_full(pattern: Pattern, needs: list[int], need: int) -> bool:
    """Return whether a need asks for as much as the first of its side."""
    amount = pattern.problem.needs.amount
    return bool(amount[need] >= amount[needs[0]] * (1 - SLACK))


def _respondents(pattern: Pattern) -> tuple[list[np.ndarray], dict[int, set[int]]]:
    """Return the open cells each single respondent knows, and whom cells need not be kept from."""
    problem = pattern.problem
    place = np.full(problem.table.n_cells, -1, dtype=np.int64)
    place[problem.cells] = np.arange(problem.n_cells)
    insiders = single_respondents(problem.table, problem.spread(pattern.hidden))
    excused = excused_pairs(problem.table, problem.sensitive.cells, insiders)
    groups = [place[cells] for cells in insiders.known]
    return groups, {int(place[cell]): owners for cell, owners in excused.items()}


def _proofs_by_need(pattern: Pattern) -> dict[Side, list[int]]:
    """Return the needs of each cell and side, the plain one first."""
    asked = pattern.problem.needs
    out: dict[Side, list[int]] = {}
    for need, (cell, sign) in enumerate(zip(asked.cell, asked.sign, strict=True)):
        if pattern.cells[need] is not None:
            out.setdefault((int(cell), float(sign)), []).append(need)
    return out
