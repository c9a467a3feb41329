"""The request rule: protection for those who ask for it."""

from __future__ import annotations

from math import ceil
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.errors import DataError
from tacit.core.method import Try
from tacit.tables.contributions import Contributions
from tacit.tables.rule import Rule
from tacit.tables.rules._concentration import (
    Level,
    above_zero,
    contributions_of,
    in_units_of_value,
    refuse_negative,
)
from tacit.tables.rules._margin import level_by_margin
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class Request(
    Rule, key="request", title="Request rule", cites=("hundepool2012",), example={"p": 70}
):
    r"""A cell is sensitive if a contributor who asked for protection makes up most of it.

    Used for foreign trade, where cells are published unless somebody objects. Those who ask with
    code 2 may be given another percentage than those who ask with code 1. Cells the user marked
    with `Table.request` are sensitive as they are.

    Missing values: a missing request is none. Weights: contributions are compared with the
    weighted total one by one, unweighted. Households: not considered.

    Notes
    -----
    With a request of contribution :math:`x` and total :math:`X`, the cell is sensitive if
    :math:`x > \frac{p}{100} X`; a tie is safe. The interval must reach up and down by
    :math:`\frac{100}{p} x - X` [hundepool2012]_, or by a margin if that is more.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"good": ["a", "a", "b"], "trade": [9, 1, 5], "asks": [1, 0, 0]})
    >>> table = tacit.tabulate(frame, "good", "trade", request="asks")
    >>> table.describe(tables.Request(p=70).sensitive(table).primary)
    '(a)'
    """

    word: ClassVar[str] = "request"
    aliases: ClassVar[tuple[str, ...]] = ("req",)
    in_order: ClassVar[tuple[str, ...]] = ("p", "p2", "margin")

    p: Annotated[float, Gt(0), Lt(100), Try(50.0, 70.0)] = 70.0
    """Percentage of the cell above which a request with code 1 counts."""
    p2: Annotated[float, Gt(0), Lt(100)] | None = None
    """Percentage of the cell above which a request with code 2 counts; by default the same."""
    margin: Annotated[float, Ge(0)] = 0.0
    """Percentage of the value by which an intruder's interval must at least reach up and down."""
    level: Level = "respondent"
    """Whether contributors are respondents or holdings."""
    absolute: bool = False
    """Whether negative contributions are compared by their absolute values."""

    @property
    def depth(self) -> int:
        """How many contributions may exceed the smaller percentage: those behind them cannot."""
        return max(ceil(100 / self._least) - 1, 1)

    @property
    def _least(self) -> float:
        return self.p if self.p2 is None else min(self.p, self.p2)

    def sensitive(self, table: Table) -> Sensitive:
        """Return the cells whose protection was asked for and is due."""
        cells = table.flags("requested")
        need = np.zeros(table.n_cells)
        if table.requested is None or self._known(table):
            found = contributions_of(table, self.level, self.short())
            need = self._need(table, found)
            cells = cells | above_zero(need, found.absolute)
            need = in_units_of_value(table, found, need)
        return Sensitive.by(
            self.short(), cells, np.maximum(need, level_by_margin(table, self.margin))
        )

    def _known(self, table: Table) -> bool:
        found = table.holdings if self.level == "holding" else table.respondents
        return found is not None and found.requested is not None

    def _need(self, table: Table, found: Contributions) -> np.ndarray:
        if found.requested is None:
            raise DataError(
                f"{self.short()} needs to know who asked for protection",
                do="build the table with request=..., or mark cells with table.request",
            )
        refuse_negative(table, found, self.absolute, self.short())
        limit = np.where(found.requested == 2, self.p if self.p2 is None else self.p2, self.p)
        need = np.abs(found.top) * 100 / limit - found.absolute[:, None]
        due = np.asarray(np.where(found.requested > 0, need, 0.0).max(axis=1, initial=0.0))
        self._refuse_unknown(table, found, due)
        return due

    def _refuse_unknown(self, table: Table, found: Contributions, due: np.ndarray) -> None:
        """Refuse if a contributor behind the largest known ones might be due more protection."""
        possible = np.abs(found.top[:, -1]) * 100 / self._least - found.absolute
        hidden = (found.n_units > found.depth) & (possible > due)
        unknown = np.flatnonzero(hidden & above_zero(possible, found.absolute))
        if len(unknown):
            raise DataError(
                f"{self.short()} needs the {self.depth} largest contributions, the table has "
                f"{found.depth}",
                got=f"cells {table.describe(unknown)}",
                do=f"build it with top={self.depth} or more",
            )
