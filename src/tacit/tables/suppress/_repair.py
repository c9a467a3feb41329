"""The repair loop: a pattern leaves it only when every sensitive cell is protected.

It works on the relations of the whole table at once, so hierarchies, non-nested breakdowns and
linked tables are one case. What other methods found is taken as a start; what is missing is added
at least cost; what is not needed is published again. The result carries a proof for each sensitive
cell and side that is checked by arithmetic, not by the solver that found it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables.protected import ProtectedTable
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._repair_insiders import insider_needs
from tacit.tables.suppress._repair_nearby import Nearby
from tacit.tables.suppress._repair_problem import Problem, problem_of, to_suppress
from tacit.tables.suppress._repair_prune import Prune
from tacit.tables.suppress._repair_search import Search, improve
from tacit.tables.table import Table

LARGE = 20_000
"""Open cells from which on proofs are looked for nearby, not over the whole table at once."""
SHARING = (1.0, 2.0, 3.0, np.inf)
"""How strongly proofs are drawn to each other's cells, sweep by sweep."""
INSIDER_ROUNDS = 5
"""Rounds after which proofs against respondents are asked for one respondent at a time."""


@dataclass(frozen=True)
class Effort:
    """How much work goes into a cheaper pattern once all cells are protected."""

    rounds: Sequence[float] = SHARING
    """Sharing of the sweeps after the first."""
    prune: int = 4
    """Passes of publishing what need not be suppressed; all but the first may exchange."""
    seconds: float = 600.0
    """Time after which the search stops with the pattern it has, which is protected."""


Order = Callable[[Problem], list[np.ndarray]]


def protect_by_repair(
    table: Table,
    sensitive: Sensitive,
    method: str,
    *,
    cost: Cost = "value",
    starts: Sequence[np.ndarray | None] = (None,),
    order: Order | None = None,
    singletons: bool = False,
    effort: Effort | None = None,
) -> ProtectedTable:
    """Protect a table, starting from a pattern another method found or from none.

    Parameters
    ----------
    table, sensitive
        What to protect.
    method
        The name that goes with the result.
    cost
        How the loss of a suppressed cell is measured.
    starts
        Cells already suppressed (flags), or None for none; of several starts the cheapest wins.
    order
        Gives groups of needs in the order they are taken.
    singletons
        Whether respondents alone in a cell must not be able to undo their neighbours.
    effort
        How hard to look for a cheaper pattern.

    Raises
    ------
    ProtectionError
        If some sensitive cells cannot be protected; it names them.
    """
    began = time.monotonic()
    effort = Effort() if effort is None else effort
    table.check_additive()
    kept, must = to_suppress(table, sensitive)
    if not kept.cells.any():
        return ProtectedTable.suppressing(table, sensitive, must, method, singletons=singletons)
    prices = cell_costs(table, cost, kept.cells)
    until = began + effort.seconds
    search = min(
        (_pattern(table, sensitive, prices, start, order, effort, until) for start in starts),
        key=lambda found: found.pattern.cost,
    )
    _exchange(search, effort, until)
    if singletons:
        _against_insiders(search)
    _certify(search)
    hidden = search.problem.spread(search.pattern.hidden)
    return ProtectedTable.suppressing(
        table, sensitive, hidden, method,
        cost=float(prices[hidden].sum()), singletons=singletons,
        proofs=len(search.problem.needs), seconds=time.monotonic() - began,
    )  # fmt: skip


def _first_pattern(
    table: Table,
    sensitive: Sensitive,
    prices: np.ndarray,
    start: np.ndarray | None,
    order: Order | None,
    until: float,
) -> Search:
    """Return a search whose pattern protects every cell; empty cells are used only where needed."""
    failed = np.empty(0, dtype=np.int64)
    for empty in (False, True):
        problem = problem_of(table, sensitive, prices, empty=empty)
        search = Search(problem, None if start is None else problem.place(start))
        search.until = until
        groups = None if order is None else order(problem)
        failed = _other_side(search, _first_sweep(search, start is not None, groups))
        _in_time(search)
        if not len(failed):
            return search
    raise ProtectionError(
        "no suppression can protect some sensitive cells",
        got=table.describe(failed),
        do="unfreeze cells around them, widen the bounds, or collapse categories (redesign)",
    )


def _first_sweep(search: Search, started: bool, groups: list[np.ndarray] | None) -> list[int]:
    """Find a proof of every need; return those that have none."""
    if search.problem.n_cells > LARGE:
        every = [np.arange(len(search.problem.needs))]
        return Nearby(search, np.inf if started else 1.0).run(every if groups is None else groups)
    with track("protecting sensitive cells"):
        return search.sweep(np.inf if started else 0.0, groups)


def _other_side(search: Search, failed: list[int]) -> np.ndarray:
    """Ask for the width below where it is not to be had above; return cells that still fail."""
    if not failed:
        return np.empty(0, dtype=np.int64)
    needs, problem = search.problem.needs, search.problem
    amount = needs.amount.copy()
    asked = problem.sensitive.above[problem.cells[needs.cell]]
    for need in failed:
        spare = amount[need] - asked[need]
        twin = np.flatnonzero((needs.cell == needs.cell[need]) & (needs.sign < 0))
        if needs.sign[need] > 0 and spare > 0 and len(twin):
            amount[twin] += spare
            amount[need] -= spare
    search.problem = replace(problem, needs=replace(needs, amount=amount))
    search.pattern.problem = search.problem
    again = np.flatnonzero(amount != needs.amount)
    dead = [k for k in failed if k not in set(again.tolist())]
    idle = again[amount[again] <= 0]
    more = search.sweep(0.0, [again[amount[again] > 0]]) if len(again) > len(idle) else []
    bad = np.unique(problem.cells[needs.cell[np.array([*dead, *more], dtype=np.int64)]])
    search.drop(idle.tolist())
    return np.asarray(bad)


def _pattern(
    table: Table,
    sensitive: Sensitive,
    prices: np.ndarray,
    start: np.ndarray | None,
    order: Order | None,
    effort: Effort,
    until: float,
) -> Search:
    """Return a search whose pattern protects every cell and has been cleaned up once."""
    search = _first_pattern(table, sensitive, prices, start, order, until)
    search.start = np.zeros_like(search.start)
    if search.problem.n_cells > LARGE:
        Nearby(search, np.inf).shorten(until)
    elif effort.rounds:
        improve(search, effort.rounds, until)
    if effort.prune:
        Prune(search.pattern).run(until)
    return search


def _exchange(search: Search, effort: Effort, until: float) -> None:
    """Publish cells in exchange for cheaper ones while that gains; the pattern always protects."""
    for _ in range(effort.prune - 1):
        before = search.pattern.cost
        if time.monotonic() > until:
            break
        Prune(search.pattern).run(until, exchange=True)
        if search.pattern.cost > before * (1 - 1e-3):
            break


def _against_insiders(search: Search) -> None:
    """Add proofs until no respondent who knows its own cell can undo a neighbour."""
    failed: list[int] = []
    for number in range(10 * INSIDER_ROUNDS):
        more = insider_needs(search.pattern, apart=bool(failed) or number >= INSIDER_ROUNDS)
        if not len(more):
            return
        first = len(search.problem.needs)
        search.add(more)
        again = bool(failed)
        failed = search.sweep(np.inf, [np.arange(first, len(search.problem.needs))])
        if failed and (again or number >= INSIDER_ROUNDS):
            break
        search.drop(failed)
    _refuse(search, np.array(failed, dtype=np.int64), "against respondents who know their own")


def _in_time(search: Search) -> None:
    """Refuse if time was over before every need had a proof."""
    late = search.pattern.unproved if time.monotonic() > search.until else ()
    if len(late):
        raise ProtectionError(
            "time was over before a pattern was found that protects every sensitive cell",
            got=f"{len(late):,} of {len(search.problem.needs):,} proofs are missing",
            do="give more seconds, or use SuppressElimination(intervals=False) if it is enough "
            "that no cell can be calculated",
        )


def _certify(search: Search) -> None:
    """Check every proof; mend by a fresh one what rounding broke, or refuse."""
    _in_time(search)
    search.until = np.inf
    for _ in range(3):
        broken = search.pattern.broken()
        if not len(broken):
            return
        search.sweep(np.inf, [np.array([k]) for k in broken])
    _refuse(search, search.pattern.broken(), "for certain")


def _refuse(search: Search, needs: np.ndarray, how: str) -> None:
    problem = search.problem
    if len(needs):
        raise ProtectionError(
            f"no suppression was found that protects some sensitive cells {how}",
            got=problem.table.describe(np.unique(problem.cells[problem.needs.cell[needs]])),
            do="unfreeze cells around them, or collapse categories (redesign)",
        )
