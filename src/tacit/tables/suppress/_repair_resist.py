"""Tables of ordinary size against respondents who know their own cells."""

from __future__ import annotations

import numpy as np

from tacit.tables._audit_prior import Beforehand
from tacit.tables.suppress._repair_insiders import Limits, insider_needs, known_beforehand
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
    needs = search.problem.needs
    side, known = (int(needs.cell[need]), float(needs.sign[need])), needs.known[need]
    least = known_beforehand(search.problem, prior, side, known, float(needs.amount[need]))
    if least is not None:
        limits.least[*side, tuple(known.tolist())] = least
    return least is not None
