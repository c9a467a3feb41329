"""Cells that are sensitive because the user says so."""

from __future__ import annotations

import operator
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from tacit.core.errors import SchemaError, nearest
from tacit.tables.rule import Rule
from tacit.tables.rules._margin import level_by_margin
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

Comparison = Literal["<", "<=", ">", ">=", "==", "!="]
_COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class UserRule(
    Rule,
    key="user",
    title="User's own rule",
    cites=("hundepool2012",),
    example={"quantity": "count", "is_": "<", "limit": 3},
):
    """A cell is sensitive if the user names it, or if a quantity of it passes a limit.

    Missing values: as the table was built. Weights: as the quantity is. Households: not
    considered.

    Notes
    -----
    Cells can be named by their codes, as `Table.cells` takes them. A quantity is the value, the
    number of records or the total of another variable of the table. The interval must reach up
    and down by a margin, a percentage of the value, as tau-ARGUS does for cells set by hand
    [hundepool2012]_.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNS"), "turnover": [60, 30, 5]})
    >>> table = tacit.tabulate(frame, "region", "turnover")
    >>> tables.UserRule(cells=[{"region": "N"}], margin=10).sensitive(table).above.tolist()
    [0.0, 9.0, 0.0]
    >>> tables.UserRule(quantity="value", is_="<", limit=50).sensitive(table).cells.tolist()
    [False, False, True]
    """

    word: ClassVar[str] = "user"
    in_order: ClassVar[tuple[str, ...]] = ("quantity", "is_", "limit", "margin")
    shown: ClassVar[int] = 3

    cells: tuple[dict[str, str | tuple[str, ...] | None], ...] = ()
    """Cells by their codes; a dimension left out stands at its total, null for all its codes."""
    quantity: str | None = None
    """What is compared: ``value``, ``count``, or another variable the table adds up."""
    is_: Comparison = "<"
    """How it is compared with the limit."""
    limit: float = 0.0
    """The limit."""
    margin: Annotated[float, Ge(0)] = 0.0
    """Percentage of the value by which an intruder's interval must reach up and down."""

    @model_validator(mode="after")
    def _check(self) -> UserRule:
        if not self.cells and self.quantity is None:
            raise ValueError("needs cells or a quantity")
        return self

    def sensitive(self, table: Table) -> Sensitive:
        """Return the cells named, and those whose quantity passes the limit."""
        cells = np.zeros(table.n_cells, dtype=bool)
        if self.cells:
            cells[table.cells(list(self.cells))] = True
        if self.quantity is not None:
            passed = _COMPARISONS[self.is_](self._quantity(table), self.limit)
            cells |= passed & ~table.is_empty
        return Sensitive.by(self.short(), cells, level_by_margin(table, self.margin))

    def _quantity(self, table: Table) -> np.ndarray:
        known = {"value": table.value, **table.sums}
        if table.count is not None:
            known["count"] = table.count
        if self.quantity not in known:
            raise SchemaError(
                f"the table has no quantity {self.quantity!r}",
                do=nearest(str(self.quantity), known),
            )
        return np.asarray(known[str(self.quantity)])

    def short(self) -> str:
        """Write the rule as the command line takes it; cells have no short form."""
        return "user" if self.quantity is None else super().short()
