"""The repair loop: a pattern leaves it only when every sensitive cell is protected.

It works on the relations of the whole table at once, so hierarchies, non-nested breakdowns and
linked tables are one case. What other methods found is taken as a start; what is missing is added
at least cost; what is not needed is published again. The result carries a proof for each sensitive
cell and side that is checked by arithmetic, not by the solver that found it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.core.progress import track
from tacit.tables._audit_insiders import knows_contributors
from tacit.tables._respondent_sums import WithSums, with_respondent_sums
from tacit.tables.protected import ProtectedTable
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._polish import Polish
from tacit.tables.suppress._repair_insiders import respondents_cells
from tacit.tables.suppress._repair_nearby import Nearby
from tacit.tables.suppress._repair_pieces import Pieces
from tacit.tables.suppress._repair_problem import Problem, problem_of, to_suppress
from tacit.tables.suppress._repair_prune import Prune
from tacit.tables.suppress._repair_refusals import in_time, refuse, too_late
from tacit.tables.suppress._repair_resist import resist
from tacit.tables.suppress._repair_search import Search, improve
from tacit.tables.suppress._repair_sliding import slide
from tacit.tables.suppress._repair_withstand import Withstand
from tacit.tables.table import Table

LARGE = 20_000
"""Open cells from which on proofs are looked for nearby, not over the whole table at once."""
KNIT = 1_500
"""Relations from which on the same is done where they are about as many as cells, or more."""
ABOUT = 0.8
"""Relations per cell that count as about as many."""
SHARE = 0.75
"""Share of the time left that a second start of a closely knit table may take."""
SHARING = (1.0, 2.0, 3.0, np.inf)
"""How strongly proofs are drawn to each other's cells, sweep by sweep."""
SPENT = 0.4
"""Share of the time left that a clean-up may take while proofs against respondents wait."""
APART = 1.0
"""What a respondent's cell costs proofs that it had better leave alone, in median cells."""
ENOUGH = 1e-3
"""Share of its cost by which a clean-up must make a pattern cheaper to be done again."""


@dataclass(frozen=True)
class Effort:
    """How much work goes into a cheaper pattern once all cells are protected."""

    rounds: Sequence[float] = SHARING
    """Sharing of the sweeps after the first."""
    prune: int = 4
    """Passes of publishing what need not be suppressed; all but the first may exchange."""
    seconds: float = 600.0
    """Time after which the search stops with the pattern it has, which is protected."""
    polish: Literal["", "whole", "pieces"] = ""
    """Whether a small pattern, or pieces of a larger one, are solved anew and exactly; not where a
    large table withstands respondents."""
    began: float = field(default_factory=lambda: time.monotonic())
    """When the time began to run; when this was made, so that finding a start counts."""


Order = Callable[[Problem], list[np.ndarray]]


def protect_by_repair(
    table: Table,
    sensitive: Sensitive,
    method: str,
    *,
    cost: Cost = "value",
    starts: Sequence[np.ndarray | None] = (None,),
    order: Order | None = None,
    singletons: bool | None = False,
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
        Whether respondents alone in a cell must not be able to undo others, and whether what one
        of them has in several cells together is protected; None: where the table knows them.
    effort
        How hard to look for a cheaper pattern.

    Raises
    ------
    ProtectionError
        If some sensitive cells cannot be protected; it names them.
    """
    effort = Effort() if effort is None else effort
    singletons = knows_contributors(table) if singletons is None else singletons
    table.check_additive()
    kept, must = to_suppress(table, sensitive)
    if not kept.cells.any():
        return ProtectedTable.suppressing(table, sensitive, must, method, singletons=singletons)
    prices = cell_costs(table, cost, kept.cells)
    wider = with_respondent_sums(table, sensitive) if singletons else WithSums(table, sensitive, ())
    charged = wider.widened(prices, fill=0.0)
    task = _Task(
        wider.table, wider.sensitive, charged, order, effort, effort.began + effort.seconds
    )
    begun = [_wide(wider, start) for start in starts]
    search = _safe_from_insiders(task, begun) if singletons else _safe(task, begun)
    hidden = search.problem.spread(search.pattern.hidden)[: table.n_cells]
    made = ProtectedTable.suppressing(
        table, sensitive, hidden, method,
        cost=float(prices[hidden].sum()), singletons=singletons,
        proofs=len(search.problem.needs), seconds=time.monotonic() - effort.began,
    )  # fmt: skip
    return _attacked(made) if singletons else made


def _attacked(made: ProtectedTable) -> ProtectedTable:
    """Return a table that respondents cannot undo, or refuse.

    Outsiders need no attack: their proofs were checked. Who is a respondent depends on the pattern.
    """
    found = made.audit()
    if not found.passed:
        raise ProtectionError(
            "the pattern found does not stand the attack of respondents who know their own",
            got=made.original.describe(found.failed),
            do="give more seconds, unfreeze cells around them, or collapse categories (redesign)",
        )
    return made


@dataclass(frozen=True, eq=False)
class _Task:
    """What is to be protected, and how."""

    table: Table
    sensitive: Sensitive
    prices: np.ndarray
    order: Order | None
    effort: Effort
    until: float
    empty: tuple[bool, ...] = (False, True)
    """Whether empty cells may be suppressed, in the order this is tried."""
    share: float = 1.0
    """Share of the time left that each clean-up may take."""

    @property
    def is_last(self) -> bool:
        """Whether nothing is asked for any more after the clean-up."""
        return self.share == 1.0

    @property
    def clean_until(self) -> float:
        """When a clean-up that begins now must end."""
        now = time.monotonic()
        return now + self.share * (self.until - now)


def _safe(task: _Task, starts: Sequence[np.ndarray | None]) -> Search:
    """Return a search whose pattern is safe from outsiders."""
    search = _solved(task, starts) if task.effort.polish == "whole" else None
    if search is None:
        search = _cheapest(task, starts)
        _polish(Polish(search, task.prices, task.until), task.effort)
    _certify(search)
    return search


def _solved(task: _Task, starts: Sequence[np.ndarray | None]) -> Search | None:
    """Return a search whose pattern was solved at once, if the table is small enough."""
    search = Search(problem_of(task.table, task.sensitive, task.prices))
    search.until = task.until
    solved = Polish(search, task.prices, task.until).directly(starts[0])
    return search if solved else None


def _polish(polish: Polish, effort: Effort) -> None:
    """Solve a small pattern anew as a whole, a larger one piece by piece, as is asked for."""
    if effort.polish == "whole" and polish.is_small:
        polish.whole()
    if effort.polish == "pieces" and not polish.is_small:
        polish.pieces()


def _safe_from_insiders(task: _Task, starts: Sequence[np.ndarray | None]) -> Search:
    """Return a search whose pattern is safe from respondents, too."""
    task = replace(task, share=SPENT)
    search = _cheapest(task, starts)
    try:
        _against_insiders(search, task)
    except ProtectionError:
        if search.problem.empty or time.monotonic() > task.until:
            raise
        search = _cheapest(replace(task, empty=(True,)), starts)
        _against_insiders(search, task)
    return search


def _cheapest(task: _Task, starts: Sequence[np.ndarray | None]) -> Search:
    """Return the search with the cheapest pattern over several starts."""
    found: list[Search] = []
    for start in starts:
        search = _first_pattern(task, start)
        other = [] if search.knit is None or start is None else _from_nothing(task)
        if not other or search.pattern.cost < other[0].pattern.cost:
            _clean_up(search, task)
        found += [search, *other]
    search = min(found, key=lambda one: one.pattern.cost)
    if task.is_last or not _is_nearby(search.problem):
        _exchange(search, task.effort, task.clean_until)
    return search


def _from_nothing(task: _Task) -> list[Search]:
    """Return a cleaned-up search that starts from no pattern, if there is time for it.

    In a closely knit table a start draws so many cells in that none is often the better one.
    """
    now = time.monotonic()
    task = replace(task, until=now + SHARE * (task.until - now))
    try:
        search = _first_pattern(task, None)
    except ProtectionError:
        return []
    _clean_up(search, task)
    return [search]


def _first_pattern(task: _Task, start: np.ndarray | None) -> Search:
    """Return a search whose pattern protects every cell; empty cells are used only where needed."""
    failed = np.empty(0, dtype=np.int64)
    for empty in task.empty:
        problem = problem_of(task.table, task.sensitive, task.prices, empty=empty)
        search = Search(problem, None if start is None else problem.place(start))
        search.until = task.until
        if not task.is_last:
            search.apart = APART * respondents_cells(search.pattern)
        groups = None if task.order is None else task.order(problem)
        left = _first_sweep(search, start is not None, groups)
        in_time(search)
        failed = _other_side(search, left)
        in_time(search)
        if not len(failed):
            return search
    raise ProtectionError(
        "no suppression can protect some sensitive cells",
        got=task.table.describe(failed),
        do="unfreeze cells around them, widen the bounds, or collapse categories (redesign)",
    )


def _first_sweep(search: Search, started: bool, groups: list[np.ndarray] | None) -> list[int]:
    """Find a proof of every need; return those that have none."""
    every = [np.arange(len(search.problem.needs))]
    if search.knit is not None:
        return search.knit.grow(every if groups is None else groups)
    groups = every if groups is None else groups
    if started:
        hidden = search.problem.fixed | search.start
        pieces = Pieces(search.pattern, hidden)
        pieces.prove(search.until)
        if _is_nearby(search.problem):
            pieces.prove_at_cost(search.pattern.unproved, search.until)
    if _is_nearby(search.problem):
        return Nearby(search, np.inf if started else 1.0).run(groups)
    with track("protecting sensitive cells"):
        left = np.zeros(len(search.problem.needs), dtype=bool)
        left[search.pattern.unproved] = True
        return search.sweep(np.inf if started else 0.0, [group[left[group]] for group in groups])


def _is_nearby(problem: Problem) -> bool:
    """Return whether proofs are looked for nearby: the whole is too large or too closely knit."""
    return problem.n_cells > LARGE or problem.n_rows > max(KNIT, ABOUT * problem.n_cells)


def _other_side(search: Search, failed: list[int]) -> np.ndarray:
    """Ask for the width where it is to be had; return cells that still fail."""
    problem, needs = search.problem, search.problem.needs
    bad = set()
    for cell in np.unique(needs.cell[np.array(failed, dtype=np.int64)]).tolist():
        at = np.flatnonzero(search.problem.needs.cell == cell)[:1]
        if not slide(search, at.tolist(), np.ones(problem.n_cells, dtype=bool)):
            bad.add(cell)
    left = [k for k in search.pattern.unproved if search.problem.needs.cell[k] not in bad]
    more = search.sweep(0.0, [np.array(left, dtype=np.int64)]) if left else []
    bad |= set(search.problem.needs.cell[more].tolist())
    return problem.cells[np.array(sorted(bad), dtype=np.int64)]


def _clean_up(search: Search, task: _Task) -> None:
    """Publish again what a pattern that protects every cell can do without.

    Of a large table that must withstand respondents, what tableaux find: they change much of it.
    """
    effort, until = task.effort, task.clean_until
    search.start = np.zeros_like(search.start)
    if search.knit is not None and search.knit.is_current:
        if effort.prune:
            search.knit.thin(until)
        return
    if effort.rounds and not _is_nearby(search.problem):
        improve(search, effort.rounds, until)
    if effort.prune:
        Prune(search.pattern).run(until, far=task.is_last or not _is_nearby(search.problem))


def _exchange(search: Search, effort: Effort, until: float) -> None:
    """Publish cells in exchange for cheaper ones while that gains; the pattern always protects."""
    prune = Prune(search.pattern)
    for _ in range(0 if search.knit else effort.prune - 1):
        before = search.pattern.cost
        if time.monotonic() > until:
            break
        prune.run(until, exchange=True)
        if search.pattern.cost > before * (1 - ENOUGH):
            break


def _wide(wider: WithSums, start: np.ndarray | None) -> np.ndarray | None:
    return None if start is None else wider.widened(np.asarray(start, dtype=bool), fill=True)


def _against_insiders(search: Search, task: _Task) -> None:
    """Add proofs until no respondent who knows its own cells can undo a sensitive one."""
    if _is_nearby(search.problem):
        _withstand(search, task)
    else:
        resist(search)
        if task.effort.prune and time.monotonic() < task.until:
            _thin(search, task)
        _polish(Polish(search, task.prices, task.until, singletons=True), task.effort)
    _certify(search)


def _thin(search: Search, task: _Task) -> None:
    """Publish what respondents leave free, if there is time to withstand them without it, too."""
    safe = search.problem, search.pattern.copy()
    Prune(search.pattern).run(task.clean_until)
    try:
        resist(search)
    except ProtectionError:
        search.problem, search.pattern = safe


def _withstand(search: Search, task: _Task) -> None:
    """Do so in a large table, then publish what its proofs can be led round."""
    withstand = Withstand(search)
    if not withstand.run():
        if not withstand.lost:
            too_late(search)
        cells = np.array([cell for cell, _ in withstand.lost], dtype=np.int64)
        refuse(search.problem, cells, "against respondents who know their own")
    for _ in range(task.effort.prune):
        safe = search.problem, search.pattern.copy()
        apart = respondents_cells(search.pattern)
        Prune(search.pattern, apart=apart).run(task.clean_until)
        if not withstand.run():
            search.problem, search.pattern = safe
        if search.pattern.cost > safe[1].cost * (1 - ENOUGH):
            break


def _certify(search: Search) -> None:
    """Check every proof; mend by a fresh one what rounding broke, or refuse."""
    in_time(search)
    search.until = np.inf
    for _ in range(3):
        broken = search.pattern.broken()
        if not len(broken):
            return
        search.sweep(np.inf, [np.array([k]) for k in broken])
    cells = search.problem.needs.cell[search.pattern.broken()]
    if len(cells):
        refuse(search.problem, cells, "for certain")
