"""Suppression by elimination on the relations, for very large tables."""

from __future__ import annotations

import time
from typing import Annotated

from annotated_types import Ge, Gt

from tacit.core.errors import ParameterError
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._circuits import elimination_pattern
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._repair import Effort, protect_by_repair
from tacit.tables.suppress._repair_problem import to_suppress
from tacit.tables.table import Table


class SuppressElimination(
    Protection,
    key="suppress-elimination",
    title="Cell suppression, elimination",
    cites=("langsrud2024",),
):
    r"""Suppress the cheapest cells under which no sensitive one follows from the published ones.

    For very large frequency tables, up to millions of cells. Alone (`intervals` off) it makes sure
    that no sensitive cell can be *calculated*; bounds and protection levels are not considered,
    which is enough only where intervals do not matter. When not to use it: for magnitude tables of
    ordinary size, where the modular method suppresses less.

    Missing values: what building the table made of them. Weights: already in the table's values and
    in the levels of the rule. Households: a unit alone in a cell (`singletons`) may be a
    household or holding, if the table was built with them.

    Notes
    -----
    A sensitive cell follows from published ones exactly if its column of the relations is not a
    combination of the columns of other suppressed cells. Columns are added, sensitive cells first,
    then the others by rising cost, and eliminated as in Gauss's method, in whole numbers modulo
    :math:`2^{31}-1`. A column that vanishes closes a circuit of cells which can all move together;
    circuits that hold a sensitive cell not yet in one are suppressed. Because columns come in order
    of cost, the dearest cell of each circuit is as cheap as possible. This is the elimination of
    [langsrud2024]_, seen from the relations instead of the inner cells. A second elimination
    over the suppressed cells alone drops those not needed.

    With `intervals` the repair loop then proves the protection levels over the whole table.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.SuppressElimination(intervals=False).intervals
    False
    """

    cost: Cost = "value"
    """What the loss of a suppressed cell is: value, unity, value-and-cells, frequency, log-value,
    distance or user."""
    intervals: bool = True
    """Whether protection levels must hold, not only that nothing can be calculated exactly."""
    singletons: bool | None = None
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too. Unless said, wherever the
    table knows how many contribute to its cells, but never without `intervals`."""
    clean_up: Annotated[int, Ge(0)] = 1
    """Passes of publishing again what need not be suppressed, with `intervals`."""
    seconds: Annotated[float, Gt(0)] = 600.0
    """Time for making the pattern cheaper, with `intervals`."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with primary and secondary suppressions, or refuse."""
        if self.singletons and not self.intervals:
            raise ParameterError("singletons are protected only with intervals", do="turn it on")
        effort = Effort((), self.clean_up, self.seconds)
        table.check_additive()
        kept, must = to_suppress(table, sensitive)
        if not kept.cells.any():
            return ProtectedTable.suppressing(table, sensitive, must, self.describe())
        prices = cell_costs(table, self.cost, kept.cells)
        hidden = elimination_pattern(table, sensitive, prices)
        if self.intervals:
            return protect_by_repair(
                table, sensitive, self.describe(), cost=self.cost, starts=(hidden,),
                singletons=self.singletons, effort=effort,
            )  # fmt: skip
        return ProtectedTable.suppressing(
            table, sensitive, hidden, self.describe(), cost=float(prices[hidden].sum()),
            exact_only=True, seconds=time.monotonic() - effort.began,
        )  # fmt: skip
