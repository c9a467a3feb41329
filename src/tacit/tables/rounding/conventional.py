"""Conventional rounding."""

from __future__ import annotations

import numpy as np

from tacit.tables.protected import ProtectedTable
from tacit.tables.rounding._base import Rounding, check_frozen
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class ConventionalRounding(
    Rounding, key="round-conventional", title="Conventional rounding", cites=("matias2013",)
):
    r"""Round every cell, totals too, to the nearest multiple of a base.

    When not to use it: where users add cells up, since rounded cells do not add up to their rounded
    totals; and for small counts, where a total can give its rounded parts away.

    Warning for totals of a variable: the base is the largest level that the rule asks for, but the
    rounded total of a single cell may still be nearer to its largest contributor than the rule
    allows; in census data it is in about a third of the sensitive cells. Suppress instead, or use
    `CellKeyMagnitude`.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    :math:`b \lfloor x/b + 1/2 \rfloor`, away from zero for negative values. An intruder learns that
    the cell lies within half a base of what is published, and less only from relations between
    cells.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.ConventionalRounding(base=5).base
    5.0
    """

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the rounded table; nobody can tell a cell to better than half a base."""
        base = self.base_for(table, sensitive)
        published = np.sign(table.value) * np.floor(np.abs(table.value) / base + 0.5) * base
        check_frozen(table, published)
        notes = {"base": base, "within": base / 2, "additive": False}
        return ProtectedTable(table, sensitive, published, self.describe(), notes)
