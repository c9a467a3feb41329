"""The minimum frequency rule."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.errors import DataError
from tacit.core.method import Try
from tacit.tables.rule import Rule
from tacit.tables.rules._concentration import Level, contributions_of
from tacit.tables.rules._margin import level_by_margin
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class MinFrequency(
    Rule,
    key="min-frequency",
    title="Minimum frequency",
    cites=("hundepool2012",),
    example={"n": 3},
):
    r"""A cell is sensitive if fewer than n respondents contribute to it.

    Empty cells are safe; see `ZeroUnsafe`. Where many tables of the same people are published, the
    empty cells that stay open tell where nobody is, and with the other tables they can name single
    people behind suppressed cells: write ``MinFrequency(n=3) | ZeroUnsafe(empty=True)`` there.

    Respondents are counted once each where the table
    knows who they are, and unweighted, because an intruder who is in the sample knows it.

    Missing values: records without a value are not part of a table. Weights: not used.
    Households: not considered; name them as units to count each once.

    Notes
    -----
    The rule itself says nothing about protection, so the interval must reach up and down by a
    margin, a percentage of the value [hundepool2012]_. A count must in addition leave room for
    another whole number on either side: the level is at least 1.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> table = tacit.tabulate(pl.DataFrame({"region": list("NNNSS")}), "region")
    >>> tables.MinFrequency(n=3).sensitive(table).cells.tolist()
    [False, False, True]
    """

    word: ClassVar[str] = "freq"
    in_order: ClassVar[tuple[str, ...]] = ("n", "margin")

    n: Annotated[int, Ge(1), Try(3, 5, 10)] = 3
    """Smallest number of respondents that makes a cell safe."""
    margin: Annotated[float, Ge(0)] = 0.0
    """Percentage of the value by which an intruder's interval must reach up and down."""
    level: Level = "respondent"
    """Whether respondents or holdings are counted."""
    zero_safe: bool = False
    """Whether a cell whose total is zero is safe however few contribute to it."""

    def sensitive(self, table: Table) -> Sensitive:
        """Return the cells of too few respondents."""
        frequency = self._frequency(table)
        few = (frequency > 0) & (frequency < self.n)
        if self.zero_safe:
            few &= table.value != 0
        return Sensitive.by(self.short(), few, level_by_margin(table, self.margin))

    def _frequency(self, table: Table) -> np.ndarray:
        if self.level == "holding":
            return contributions_of(table, "holding", self.short()).n_units
        if table.respondents is not None:
            return table.respondents.n_units
        if table.count is not None:
            return table.count
        if table.is_count:
            return table.value
        raise DataError(
            f"{self.short()} needs the number of respondents of each cell",
            do="name the column of frequencies when the table is read",
        )
