"""Respondents who know their own cell: further proofs that leave these cells alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tacit.tables._audit_insiders import excused_pairs, single_respondents
from tacit.tables._audit_prior import Beforehand
from tacit.tables.suppress._repair_pattern import SLACK, Pattern, flat
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
    problem = pattern.problem
    groups, excused = _respondents(pattern)
    owner = np.full(problem.n_cells, -1, dtype=np.int64)
    for name, cells in enumerate(groups):
        owner[cells] = name
    full, less = _proofs_by_side(pattern)
    found = []
    for need, moved in _always_moved(pattern, full, owner, len(groups)):
        cell, sign = int(problem.needs.cell[need]), float(problem.needs.sign[need])
        pardoned = {int(owner[cell]), *excused.get(cell, ())}
        known = [problem.needs.known[k] for k in less.get(need, ())]
        met = {owner[cells[0]] for cells in known if _is_one(groups, owner, cells)}
        against = sorted(moved - met - pardoned)
        if against:
            named = {tuple(groups[name].tolist()): groups[name] for name in against}
            found.append(Open((cell, sign), need, named))
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


def _proofs_by_side(pattern: Pattern) -> tuple[list[np.ndarray], dict[int, list[int]]]:
    """Return the proved needs of each side that ask for all of it, the first of the side first.

    Those that ask for less, of respondents who know more beforehand, are given by that first need.
    """
    asked = pattern.problem.needs
    proved = np.flatnonzero(np.array([one is not None for one in pattern.cells], dtype=bool))
    side = 2 * asked.cell[proved] + (asked.sign[proved] > 0)
    _, at, name = np.unique(side, return_index=True, return_inverse=True)
    first = proved[at[name]]
    is_full = asked.amount[proved] >= asked.amount[first] * (1 - SLACK)
    less: dict[int, list[int]] = {}
    for need, of in zip(proved[~is_full].tolist(), first[~is_full].tolist(), strict=True):
        less.setdefault(of, []).append(need)
    order = np.argsort(first[is_full], kind="stable")
    needs, first = proved[is_full][order], first[is_full][order]
    groups = np.split(needs, np.flatnonzero(np.diff(first)) + 1)
    return (groups if len(needs) else []), less


def _always_moved(
    pattern: Pattern, sides: list[np.ndarray], owner: np.ndarray, n_owners: int
) -> Iterator[tuple[int, set[int]]]:
    """Give the first need of sides with the respondents whose cells all their proofs move."""
    from tacit.tables.suppress._repair_insiders_kernel import always_moved

    if not sides:
        return
    held = [pattern.proof(k)[0] for k in np.concatenate(sides).tolist()]
    side, name = always_moved(flat(sides)[0], *flat(held), owner, n_owners)
    for at in np.split(np.arange(len(side)), np.flatnonzero(np.diff(side)) + 1):
        if len(at):
            yield int(sides[side[at[0]]][0]), set(name[at].tolist())


def _is_one(groups: list[np.ndarray], owner: np.ndarray, known: np.ndarray) -> bool:
    """Whether some cells are all that one respondent knows now."""
    name = int(owner[known[0]])
    return name >= 0 and np.array_equal(groups[name], known)


def _respondents(pattern: Pattern) -> tuple[list[np.ndarray], dict[int, set[int]]]:
    """Return the open cells each single respondent knows, and whom cells need not be kept from."""
    problem = pattern.problem
    place = np.full(problem.table.n_cells, -1, dtype=np.int64)
    place[problem.cells] = np.arange(problem.n_cells)
    insiders = single_respondents(problem.table, problem.spread(pattern.hidden))
    excused = excused_pairs(problem.table, problem.sensitive.cells, insiders)
    groups = [place[cells] for cells in insiders.known]
    return groups, {int(place[cell]): owners for cell, owners in excused.items()}
