"""Totals of zero: everyone in the cell is known to contribute nothing."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from tacit.tables.rule import Rule
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class ZeroUnsafe(
    Rule, key="zero-unsafe", title="Zeros are unsafe", cites=("hundepool2012",), example={}
):
    r"""A cell is sensitive if its total is zero although somebody contributes to it.

    Where contributions cannot be negative, such a total says that each of them is zero. Cells
    nobody contributes to are safe unless told otherwise; without this rule zeros are safe.

    Missing values: records without a value are not part of a table. Weights: not used.
    Households: not considered.

    Notes
    -----
    No percentage of zero protects it, so the level is an amount: an intruder's interval must reach
    up by it, and down by it where values can be negative [hundepool2012]_.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": ["N", "N", "S"], "profit": [0, 0, 7]})
    >>> table = tacit.tabulate(frame, "region", "profit")
    >>> tables.ZeroUnsafe(amount=2).sensitive(table).above.tolist()
    [0.0, 2.0, 0.0]
    """

    word: ClassVar[str] = "zero"
    in_order: ClassVar[tuple[str, ...]] = ("amount",)

    amount: Annotated[float, Gt(0)] = 1.0
    """How far up an intruder's interval must reach."""
    empty: bool = False
    """Whether cells nobody contributes to are sensitive too, as a count of zero may be."""

    def sensitive(self, table: Table) -> Sensitive:
        """Return the cells whose total is zero."""
        zero = table.value == 0
        if not self.empty:
            zero &= ~table.is_empty
        lowest = table.bounds[0]
        return Sensitive.by(self.short(), zero, self.amount, np.where(lowest < 0, self.amount, 0.0))
