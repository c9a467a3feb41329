"""Optimal secondary suppression."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.errors import ProtectionError
from tacit.tables._audit_insiders import knows_contributors
from tacit.tables._levels import required_levels
from tacit.tables._linear_program import UnsolvedError
from tacit.tables._respondent_sums import WithSums, with_respondent_sums
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._circuits import elimination_pattern
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._optimal_problem import Problem
from tacit.tables.suppress._repair import Effort, protect_by_repair
from tacit.tables.suppress._repair_problem import blocked_cells, to_suppress
from tacit.tables.table import Table

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_search import Search


class SuppressOptimal(
    Protection,
    key="suppress-optimal",
    title="Cell suppression, optimal",
    cites=("fischetti2001",),
):
    r"""Leave out the cheapest further cells that keep every sensitive cell uncertain enough.

    Works on any table that is cells and relations: any number of dimensions, hierarchies, linked
    tables. Meant for small and medium tables; when time is over the best pattern found is returned
    with the gap that remains. Every result has passed an attack on the whole table. When not to use
    it: for tables of many thousand cells, where `SuppressModular` comes near in far less time.

    Missing values: what building the table made of them. Weights: already in the table's values and
    in the levels of the rule. Households: a unit alone in a cell (`singletons`) may be a
    household or holding, if the table was built with them.

    Notes
    -----
    With :math:`y_i = 1` for a suppressed cell, minimise :math:`\sum_i w_i y_i` such that for every
    sensitive cell :math:`p` the attacker's interval reaches its levels. By duality of the
    attacker's problem this is

    .. math:: \sum_i \bigl(\alpha_i (u_i - x_i) + \beta_i (x_i - l_i)\bigr)\, y_i \ge UPL_p

    for every extreme point of the dual, and likewise below and for the width: the capacity
    constraints of [fischetti2001]_, found one by one as they are missed, their
    coefficients cut at the right-hand side. Of patterns of least cost one of the fewest cells is
    looked for in small tables; the note ``fewest`` says whether that is proven.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.tables import Dimension, Sensitive, Table
    >>> from tacit.tables._grid import grid_codes, grid_relations
    >>> by = Dimension.flat("region", ["N", "S"]), Dimension.flat("sector", ["A", "B"])
    >>> cells = [100.0, 60, 40, 55, 35, 20, 45, 25, 20]
    >>> table = Table(np.array(cells), grid_relations(by), by, grid_codes(by), "turnover")
    >>> small = np.isin(np.arange(9), [5])
    >>> safe = SuppressOptimal().protect(table, Sensitive.by("too small", small, above=4.0))
    >>> safe.suppressed.astype(int).reshape(3, 3).tolist()
    [[0, 0, 0], [0, 1, 1], [0, 1, 1]]
    """

    cost: Cost = "value"
    """What is kept small: suppressed value, number of cells, both, frequency, log value, distance
    from sensitive cells, or the user's cost of each cell."""
    singletons: bool | None = None
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too. Unless said, wherever the
    table knows how many contribute to its cells."""
    seconds: Annotated[float, Gt(0)] = 300.0
    """Time after which the best pattern found so far is returned; if there is none, it refuses. The
    attack on the result comes on top."""
    gap: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Stop when no pattern can be cheaper by more than this share; 0 is optimal."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with a cheapest safe pattern of suppressed cells.

        Raises
        ------
        ProtectionError
            If no safe pattern exists, naming the cells, or none was found in time.
        """
        table.check_additive()
        wider = WithSums(table, sensitive, ())
        if self._alone(table) and sensitive.cells.any():
            wider = with_respondent_sums(table, sensitive)
        search = self._searched(table, sensitive, wider)
        best = search.best[: table.n_cells]
        notes = {
            "cost": float(search.problem.cost[search.best].sum()), "secondary_cost": search.price,
            "bound": min(search.bound, search.price), "gap": search.relative_gap,
            "optimal": bool(search.is_done), "fewest": search.is_fewest,
            "iterations": search.n_rounds, "cuts": search.n_cuts,
            "singletons": self._alone(table), "seconds": search.elapsed,
        }  # fmt: skip
        return _audited(
            ProtectedTable.suppressing(table, sensitive, best, self.describe(), **notes)
        )

    def _alone(self, table: Table) -> bool:
        """Return whether respondents alone in a cell must be withstood."""
        return knows_contributors(table) if self.singletons is None else self.singletons

    def _searched(self, table: Table, sensitive: Sensitive, wider: WithSums) -> Search:
        """Search; empty cells may be suppressed only where nothing else helps."""
        until = time.monotonic() + self.seconds
        whole = wider.table
        primary, must = to_suppress(whole, wider.sensitive)
        cost = cell_costs(table, self.cost, primary.cells[: table.n_cells])
        problem = Problem(
            whole, required_levels(whole, primary), primary.cells, must,
            blocked_cells(whole, must, empty=False), wider.widened(cost, fill=0.0),
            self._alone(table),
        )  # fmt: skip
        free = replace(problem, blocked=blocked_cells(whole, must, empty=True), witnesses=[])
        begun = self._begun(table, sensitive, wider, problem, cost)
        if not any((cells & problem.blocked).any() for cells in begun.values()):
            try:
                return self._run(problem, until, begun)
            except UnsolvedError:
                raise
            except ProtectionError:
                if np.array_equal(problem.blocked, free.blocked):
                    raise
        return self._run(free, until, begun)

    def _begun(
        self,
        table: Table,
        sensitive: Sensitive,
        wider: WithSums,
        problem: Problem,
        cost: np.ndarray,
    ) -> dict[str, np.ndarray]:
        """Return what to begin with: cells by elimination, or a pattern of the repair loop.

        The latter where the table is not small, found in half the time at most: so the result is
        never dearer than that, however little time there is.
        """
        if not problem.primary.any():
            return {}
        effort = Effort((), 4, self.seconds / 2, "pieces")
        try:
            cells = elimination_pattern(table, sensitive, cost)
            if problem.dense is not None and not problem.singletons:
                return {"start": cells}
            found = protect_by_repair(
                table, sensitive, self.title, cost=self.cost, singletons=self.singletons,
                starts=(cells,), effort=effort,
            )  # fmt: skip
        except ProtectionError:
            return {}
        return {"first": wider.widened(found.suppressed, fill=True)}

    def _run(self, problem: Problem, until: float, begun: dict[str, np.ndarray]) -> Search:
        from tacit.tables.suppress._optimal_search import Search

        left = max(until - time.monotonic(), 0.0)
        search = Search(problem, left, self.gap, begun.get("first"), start=begun.get("start"))
        search.run()
        return search


def _audited(result: ProtectedTable) -> ProtectedTable:
    """Return the result if the attack on the whole table fails, else refuse."""
    found = result.audit()
    if not found.passed:
        raise ProtectionError(
            "the pattern found does not stand the attack on the whole table",
            got=result.original.describe(found.failed),
            do="report this table: it should not happen",
        )
    return result
