"""Tables of ordinary size against respondents who know their own cells."""

from __future__ import annotations

import numpy as np

from tacit.tables._audit_prior import Beforehand
from tacit.tables.suppress._repair_insiders import Limits, insider_needs
from tacit.tables.suppress._repair_pieces import Pieces
from tacit.tables.suppress._repair_refusals import in_time, refuse
from tacit.tables.suppress._repair_search import Search

ROUNDS = 60
"""Rounds of proofs; each may hide cells of which other respondents know."""
CLOSE = 100_000
"""Relations times cells up to which a piece is solved whole against respondents, who are many."""


def resist(search: Search) -> None:
    """Ask for proofs that leave alone what respondents know, of fewer where many are too many.

    Against a single respondent no more is asked than it cannot know beforehand.
    """
    limits, prior = Limits(), Beforehand(search.problem.table)
    lost: list[int] = []
    for _ in range(ROUNDS):
        more, sizes = insider_needs(search.pattern, limits)
        if not len(more):
            return
        first = len(search.problem.needs)
        search.add(more)
        Pieces(search.pattern, search.pattern.hidden).prove(search.until, CLOSE)
        failed = search.sweep(np.inf, [search.pattern.unproved])
        in_time(search, failed)
        for need in failed:
            if sizes[need - first] > 1:
                side = int(more.cell[need - first]), float(more.sign[need - first])
                limits.halve(side, sizes[need - first])
            elif not _can_ask_less(search, need, prior, limits):
                lost.append(need)
        if lost:
            break
        search.drop(failed)
    still = lost or [len(search.problem.needs) - 1]
    cells = search.problem.needs.cell[np.array(still, dtype=np.int64)]
    refuse(search.problem, cells, "against respondents who know their own")


def _can_ask_less(search: Search, need: int, prior: Beforehand, limits: Limits) -> bool:
    """Ask for no more than someone cannot know beforehand; return whether that is less."""
    problem, needs = search.problem, search.problem.needs
    cell, sign, known = int(needs.cell[need]), float(needs.sign[need]), needs.known[need]
    asked = float(needs.amount[need])
    reach = prior.reach(int(problem.cells[cell]), sign, problem.cells[known], asked)
    if reach >= asked * (1 - 1e-6):
        return False
    size = max(abs(float(problem.table.value[problem.cells[cell]])), 1.0)
    limits.least[cell, sign, int(known[0])] = reach * (1 - 1e-7) if reach > 1e-9 * size else 0.0
    return True
