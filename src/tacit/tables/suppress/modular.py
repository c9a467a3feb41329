"""Modular suppression: from the top of the hierarchy down."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._circuits import elimination_pattern
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._repair import SHARING, Effort, protect_by_repair
from tacit.tables.suppress._repair_problem import Problem, to_suppress
from tacit.tables.table import Table


class SuppressModular(
    Protection,
    key="suppress-modular",
    title="Cell suppression, modular",
    cites=("dewolf2002", "fischetti2001"),
):
    r"""Suppress further cells, level by level from the total down, so that no sensitive one shows.

    For tables with hierarchies, from hundreds to hundreds of thousands of cells: little more
    suppressed than in the optimum, in seconds to minutes. Withstanding single respondents takes
    several times as long, and in tables where most cells are sensitive suppresses much more: leave
    `singletons` out where nobody who is alone in a cell will attack.
    When not to use it: for one small table, where the optimum is at hand (`SuppressOptimal`).

    Missing values: what building the table made of them. Weights: already in the table's values and
    in the levels of the rule. Households: a unit alone in a cell (`singletons`) may be a
    household or holding, if the table was built with them.

    Notes
    -----
    As in HiTaS [dewolf2002]_ sub-tables are taken from the top of the hierarchies down. For
    each sensitive cell :math:`p` and side the cheapest change

    .. math:: \min \sum_i \frac{c_i}{\min(1, r_i / t_p)}\,|\delta_i| \quad\text{subject to}\quad
       R\,\delta = 0,\ \delta_p = \pm t_p,\ l_i \le x_i + \delta_i \le u_i

    is found [fischetti2001]_; the cells that move are suppressed, and cost less (in the end
    nothing) to the next. Sub-tables of a level are solved together in one linear programme. Unlike
    in HiTaS :math:`R` holds the relations of the *whole* table: a pattern chosen in a sub-table
    holds in all others at once, there is nothing to carry down or to track back. The pattern grows
    from one found by elimination; a clean-up then publishes again, dearest first, each cell without
    which all others stay protected, also in exchange for cheaper ones. The pattern of a small table
    (up to some 2,000 cells that are not dearer than the whole pattern) is then solved anew by the
    exact search of `SuppressOptimal`, with a limited amount of work. In large tables changes are
    looked for among some hundred cells that share most relations with :math:`p`, in one compiled
    tableau for all needs among them; cells are published again by leading the changes of others
    round them. Every result carries a proof per sensitive cell, checked by arithmetic.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.SuppressModular(cost="unity", seconds=10).cost
    'unity'
    """

    cost: Cost = "value"
    """What the loss of a suppressed cell is: value, unity, value-and-cells, frequency, log-value,
    distance or user."""
    singletons: bool | None = None
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too. Unless said, wherever the
    table knows how many contribute to its cells."""
    sweeps: Annotated[int, Ge(0)] = 0
    """Further sweeps over all sensitive cells before the clean-up; seldom worth their time."""
    clean_up: Annotated[int, Ge(0)] = 4
    """Passes of publishing again what need not be suppressed."""
    seconds: Annotated[float, Gt(0)] = 600.0
    """Time after which the protected pattern at hand is returned; if there is none, it refuses."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with primary and secondary suppressions, or refuse."""
        rounds = [SHARING[min(k, 2)] for k in range(self.sweeps - 1)] + [np.inf] * (self.sweeps > 0)
        effort = Effort(tuple(rounds), self.clean_up, self.seconds, "whole")
        return protect_by_repair(
            table, sensitive, self.describe(), cost=self.cost, order=from_the_top,
            starts=(self._start(table, sensitive),), singletons=self.singletons, effort=effort,
        )  # fmt: skip

    def _start(self, table: Table, sensitive: Sensitive) -> np.ndarray | None:
        """Return a pattern to start from, under which nothing can be calculated exactly."""
        kept, _ = to_suppress(table, sensitive)
        if not kept.cells.any():
            return None
        return elimination_pattern(table, sensitive, cell_costs(table, self.cost, kept.cells))


def from_the_top(problem: Problem) -> list[np.ndarray]:
    """Return the needs level by level: sub-tables nearer to the grand total first."""
    table = problem.table
    if not table.dimensions or table.codes.shape[0] != table.n_cells:
        return [np.arange(len(problem.needs))]
    depth = sum(
        (d.depth[table.codes[:, k]] for k, d in enumerate(table.dimensions)),
        start=np.zeros(table.n_cells, dtype=np.int64),
    )
    level = depth[problem.cells[problem.needs.cell]]
    return [np.flatnonzero(level == k) for k in np.unique(level)]
