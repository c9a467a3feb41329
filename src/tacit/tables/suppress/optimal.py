"""Optimal secondary suppression."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.errors import ProtectionError
from tacit.tables._levels import required_levels
from tacit.tables._respondent_sums import WithSums, with_respondent_sums
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._optimal_problem import Problem
from tacit.tables.suppress._repair_problem import blocked_cells, to_suppress
from tacit.tables.table import Table

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_search import Search

LARGE = 4_000
"""Cells that may be suppressed above which the first pattern comes from the repair loop."""


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
    in the levels of the rule. Households: with `singletons` a unit alone in a cell may be a
    household or holding, if the table was built with them.

    Notes
    -----
    With :math:`y_i = 1` for a suppressed cell, minimise :math:`\sum_i w_i y_i` such that for every
    sensitive cell :math:`p` the attacker's interval reaches its levels. By duality of the
    attacker's problem this is

    .. math:: \sum_i \bigl(\alpha_i (u_i - x_i) + \beta_i (x_i - l_i)\bigr)\, y_i \ge UPL_p

    for every extreme point of the dual, and likewise below and for the width: the capacity
    constraints of [fischetti2001]_, found one by one as they are missed, their
    coefficients cut at the right-hand side.

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
    singletons: bool = False
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too."""
    seconds: Annotated[float, Gt(0)] = 300.0
    """Time after which the best pattern found so far is returned."""
    gap: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Stop when no pattern can be cheaper by more than this share; 0 is optimal."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with a cheapest safe pattern of suppressed cells.

        Raises
        ------
        ProtectionError
            If no safe pattern exists, naming the cells.
        """
        table.check_additive()
        wider = WithSums(table, sensitive, ())
        if self.singletons and sensitive.cells.any():
            wider = with_respondent_sums(table, sensitive)
        search = self._searched(table, sensitive, wider)
        best = search.best[: table.n_cells]
        notes = {
            "cost": float(search.problem.cost[search.best].sum()), "secondary_cost": search.price,
            "bound": min(search.bound, search.price), "gap": search.relative_gap,
            "optimal": bool(search.is_done), "iterations": search.n_rounds,
            "cuts": search.n_cuts, "singletons": self.singletons, "seconds": search.elapsed,
        }  # fmt: skip
        return _audited(
            ProtectedTable.suppressing(table, sensitive, best, self.describe(), **notes)
        )

    def _by_repair(self, table: Table, sensitive: Sensitive, wider: WithSums) -> np.ndarray:
        """Return a first pattern for a large table, found in half the time at most."""
        from tacit.tables.suppress._repair import Effort, protect_by_repair

        found = protect_by_repair(
            table, sensitive, self.title, cost=self.cost, singletons=self.singletons,
            effort=Effort(seconds=self.seconds / 2),
        )  # fmt: skip
        return wider.widened(found.suppressed, fill=True)

    def _searched(self, table: Table, sensitive: Sensitive, wider: WithSums) -> Search:
        """Search; empty cells may be suppressed only where nothing else helps."""
        from tacit.tables.suppress._optimal_search import Search

        whole = wider.table
        primary, must = to_suppress(whole, wider.sensitive)
        levels = required_levels(whole, primary)
        cost = cell_costs(table, self.cost, primary.cells[: table.n_cells])
        cost = wider.widened(cost, fill=0.0)
        closed = blocked_cells(whole, must, empty=False)
        open_ = blocked_cells(whole, must, empty=True)
        for blocked in (closed, open_):
            problem = Problem(whole, levels, primary.cells, must, blocked, cost, self.singletons)
            large = len(problem.candidates) > LARGE
            first = partial(self._by_repair, table, sensitive, wider) if large else None
            search = Search(problem, self.seconds, self.gap, first)
            try:
                search.run()
            except ProtectionError:
                if blocked is open_ or np.array_equal(closed, open_):
                    raise
            else:
                break
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
