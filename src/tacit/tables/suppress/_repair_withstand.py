"""Large tables against respondents: proofs that leave their cells alone, looked for nearby.

What must be shown against many respondents is asked of one proof first. Where there is none, the
proof that does not mind them is made shorter, so that it moves the cells of few; of these, halves
are asked for. Only those that are left one by one are worth further suppressions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from tacit.core.progress import track
from tacit.core.side_by_side import AT_ONCE, in_groups, side_by_side
from tacit.tables._audit_prior import Beforehand
from tacit.tables._linear_program import UnsolvedError
from tacit.tables.suppress._repair_inside import Inside, Proof
from tacit.tables.suppress._repair_insiders import (
    Open,
    Side,
    Who,
    as_needs,
    known_beforehand,
    open_respondents,
)
from tacit.tables.suppress._repair_pieces import Pieces
from tacit.tables.suppress._repair_search import Search

FEW = 4
"""Respondents above which a shorter proof is looked for among the cells around."""
SOME = 20
"""Respondents above which it is looked for by a programme of many cells."""
MANY = 1_000_000_000
"""More respondents than there are."""
PARTS = 8
"""Proofs asked for at once of one side, each against other respondents."""


@dataclass(frozen=True)
class Request:
    """What is asked of a proof: a side, how far it moves, and against whom."""

    side: Side
    need: int
    """A need of that side."""
    amount: float
    against: tuple[Who, ...]
    """These respondents."""
    known: np.ndarray
    """All their cells."""
    may_cost: bool
    """Whether published cells may be suppressed for it."""


@dataclass(eq=False)
class Progress:
    """How far one side has come."""

    most: int = MANY
    """Against how many respondents one proof is asked for."""
    short: Literal["", "wanted", "done"] = ""
    """Whether its own proof was made short."""
    stuck: set[Who] = field(default_factory=set)
    """Respondents that no proof among suppressed cells leaves alone."""
    most_stuck: int = MANY
    """Against how many of these one proof is asked for."""
    amounts: dict[Who, float] = field(default_factory=dict)
    """How far it must move against respondents who know more beforehand, 0 for not at all."""


class Withstand:
    """Adds proofs to a search until no respondent undoes a sensitive cell, or says for which not.

    Parameters
    ----------
    search
        A search whose pattern protects every cell from outsiders.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._progress: dict[Side, Progress] = {}
        self.lost: list[Side] = []
        """Sides that cannot be protected from some respondent."""

    def run(self) -> bool:
        """Return whether every side resists every respondent when this ends.

        Each round proves something or asks for less the next time, until time is over.
        """
        with track("withstanding respondents"), side_by_side() as together:
            self._together = together
            try:
                return self._rounds()
            except UnsolvedError:
                if not self._is_late:
                    raise
                return False

    def _rounds(self) -> bool:
        while True:
            left = open_respondents(self._search.pattern)
            if self._shorten(left):
                left = open_respondents(self._search.pattern)
            requests = [one for some in left for one in self._requests(some)]
            if not requests:
                return True
            if not self._answer(requests) or self.lost:
                return False

    @property
    def _is_late(self) -> bool:
        return time.monotonic() > self._search.until

    def _of(self, side: Side) -> Progress:
        return self._progress.setdefault(side, Progress())

    # -- what is asked --------------------------------------------------------------------------

    def _requests(self, left: Open) -> list[Request]:
        """Return what is asked next for a side."""
        state, problem = self._of(left.side), self._search.problem
        amount = float(problem.needs.amount[left.need])
        rest = {who: known for who, known in left.known.items() if who not in state.amounts}
        fresh = [who for who in rest if who not in state.stuck]
        asked, most = (fresh, state.most) if fresh else (list(rest), state.most_stuck)
        made = [
            Request(left.side, left.need, least, (who,), left.known[who], may_cost=True)
            for who, least in state.amounts.items()
            if least > 0 and who in left.known
        ]
        for at in np.array_split(np.arange(len(asked)), -(-len(asked) // most) or 1)[:PARTS]:
            chosen = tuple(asked[k] for k in at)
            if chosen:
                known = np.concatenate([rest[who] for who in chosen])
                made.append(Request(left.side, left.need, amount, chosen, known, not fresh))
        return made

    def _answer(self, requests: list[Request]) -> bool:
        """Look for the proofs asked for; note what was not found. Return whether there was time."""
        search = self._search
        first = len(search.problem.needs)
        search.add(as_needs(search.problem.needs, [(r.need, r.amount, r.known) for r in requests]))
        self._pieces().prove(search.until)
        self._at_cost({first + k: one for k, one in enumerate(requests) if one.may_cost})
        failed = search.pattern.unproved
        if len(failed) and self._is_late:
            return False
        for need in failed:
            self._note_failure(requests[need - first])
        search.drop(failed.tolist())
        return True

    def _note_failure(self, one: Request) -> None:
        """Ask for less next time."""
        state, half = self._of(one.side), max(len(one.against) // 2, 1)
        if one.may_cost:
            state.most_stuck = (
                min(state.most_stuck, half) if len(one.against) > 1 else state.most_stuck
            )
        elif not state.short and len(one.against) > FEW:
            state.short = "wanted"
        elif len(one.against) > 1:
            state.most = half
        else:
            state.stuck.update(one.against)

    @cached_property
    def _prior(self) -> Beforehand:
        return Beforehand(self._search.problem.table, until=self._search.until)

    # -- where it is looked for -----------------------------------------------------------------

    def _pieces(self) -> Pieces:
        return Pieces(self._search.pattern, self._search.pattern.hidden)

    def _at_cost(self, asked: dict[int, Request]) -> None:
        """Prove needs with cells that are published so far: cheap ones, then any."""
        search, pattern = self._search, self._search.pattern
        self._pieces().prove_at_cost(np.array(list(asked), dtype=np.int64), search.until)
        left = [need for need in asked if pattern.cells[need] is None]
        for group in in_groups(left):
            charge = np.where(pattern.hidden, 0.0, search.problem.cost)
            for need, found in self._looked_for(group, Inside.cheaply, charge):
                if self._is_late:
                    return
                found = found or self._anywhere(need, asked[need], charge)
                if found is not None:
                    pattern.assign(need, *found)

    def _looked_for(
        self,
        needs: Sequence[int],
        look: Callable[[Inside, int, np.ndarray], Proof | None],
        charge: np.ndarray,
    ) -> Iterator[tuple[int, Proof | None]]:
        """Give needs with what is found for each, side by side."""
        found = self._together(lambda need, k: look(self._inside[k], need, charge), needs)
        return zip(needs, found, strict=True)

    @cached_property
    def _inside(self) -> list[Inside]:
        return [Inside(self._search) for _ in range(AT_ONCE)]

    def _anywhere(self, need: int, one: Request, charge: np.ndarray) -> Proof | None:
        """Look for a proof against a single respondent in the whole table; note if there is none.

        Nothing is looked for where the respondent knows more beforehand.
        """
        if len(one.against) > 1 or self._knows_more(one):
            return None
        found = self._inside[0].anywhere(need, charge)
        if found is None and not self._is_late:
            self.lost.append(one.side)
        return found

    def _knows_more(self, one: Request) -> bool:
        """Whether a respondent knows beforehand that a cell cannot move so far; note how far."""
        least = known_beforehand(self._search.problem, self._prior, one.side, one.known, one.amount)
        if least is not None:
            self._of(one.side).amounts[one.against[0]] = least
        return least is not None

    # -- shorter proofs -------------------------------------------------------------------------

    def _shorten(self, every: list[Open]) -> bool:
        """Make the proofs short of sides for which no proof against all was found, if there are."""
        sides = [one for one in every if self._of(one.side).short == "wanted"]
        for one in sides:
            self._of(one.side).short = "done"
        if not sides:
            return False
        search, pattern = self._search, self._search.pattern
        before = {one.need: pattern.proof(one.need) for one in sides}
        many = {one.need for one in sides if len(one.known) > SOME}
        hidden, owner = pattern.hidden, self._owners(every)
        for need in before:
            pattern.release(need)
        Pieces(pattern, hidden).prove(search.until)
        self._look_wider([need for need in before if need in many], hidden)
        for need, old in before.items():
            now = pattern.cells[need]
            if now is None or _n_owners(owner, now) >= _n_owners(owner, old[0]):
                pattern.release(need)
                pattern.assign(need, *old)
        return True

    def _look_wider(self, needs: list[int], hidden: np.ndarray) -> None:
        """Prove needs that have no proof among many cells around each; mind what is suppressed."""
        search, pattern = self._search, self._search.pattern
        left = [need for need in needs if pattern.cells[need] is None]
        for group in in_groups(left):
            if self._is_late:
                return
            charge = np.where(hidden | pattern.hidden, 0.0, search.problem.cost) + search.apart
            for need, found in self._looked_for(group, Inside.widely, charge):
                if found is not None:
                    pattern.assign(need, *found)

    def _owners(self, every: list[Open]) -> np.ndarray:
        """Return who is alone in each open cell, as far as anybody is still to be resisted."""
        owner = np.full(self._search.problem.n_cells, -1, dtype=np.int64)
        for one in every:
            for known in one.known.values():
                owner[known] = known[0]
        return owner


def _n_owners(owner: np.ndarray, cells: np.ndarray) -> int:
    """Return how many respondents' cells are among some cells."""
    found = np.unique(owner[cells])
    return int((found >= 0).sum())
