"""Collapsed categories as a protection."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from tacit.core.errors import ProtectionError
from tacit.core.method import Columns
from tacit.tables.collapse._loss import Measure
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.redesign import Redesign, redesign
from tacit.tables.sensitive import DECLARED, Sensitive
from tacit.tables.suppress.modular import SuppressModular
from tacit.tables.table import Table


class Collapse(
    Protection, key="collapse", title="Collapsed categories (redesign)", cites=("hundepool2012",)
):
    """Merge categories at the smallest loss, until no cell is sensitive.

    For tables of few sensitive cells, where rare categories can do without a line of their own:
    nothing is suppressed, and every number is true. With `allow` a few cells may remain sensitive,
    which are then suppressed with the modular method.
    When not to use it: where the classification is fixed by others, or where many cells are
    sensitive; then `SuppressModular` leaves more of the table.

    Missing values: what building the table made of them; their code is merged as others, in ordered
    classifications never. Weights: already in the table's values and in the rule. Households: as
    the rule sees them; a respondent in several of the merged cells is one respondent.

    Notes
    -----
    Described as table redesign in [hundepool2012]_. The search is that of
    `tacit.tables.redesign`: the result is the best choice of categories where the note ``proved``
    says so, otherwise no choice loses less than ``least``. The new table takes the place of the
    original: cells that must be published or suppressed are so in it.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import tables
    >>> table = tables.tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y", "z"]}), "a")
    >>> made = table.protect(tables.Collapse(), tables.MinFrequency(n=2))
    >>> made.public.rows()
    [('Total', 11, ''), ('x', 9, ''), ('y+z', 2, '')]
    """

    dimensions: Columns | None = None
    """Columns whose categories may be merged; all unless said."""
    ordered: Columns | None = None
    """Columns whose categories are in order: only neighbours are merged; none unless said."""
    allow: Annotated[int, Ge(0)] = 0
    """Sensitive cells that may remain; they are suppressed."""
    loss: Measure = "information"
    """What is to be small: the share of information lost, or of cells."""
    width: Annotated[int, Ge(1)] = 4
    """How many tables are followed at a time in a first search."""
    limit: Annotated[int, Ge(0)] = 5_000
    """How many tables are judged at most to find a better one, or to prove that there is none."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the coarser table, or refuse if there is none without sensitive cells."""
        if sensitive.rule is None and set(sensitive.hits) - {DECLARED}:
            raise ProtectionError(
                "merged cells must be judged anew, and only the cells that a rule found were given",
                do="give the rule itself",
            )
        found = redesign(
            table, sensitive.rule, dimensions=self.dimensions, ordered=self.ordered or (),
            allow=self.allow, loss=self.loss, width=self.width, limit=self.limit,
        )  # fmt: skip
        hide = found.table.flags("forced").any() or len(found.sensitive) > 0
        made = (
            SuppressModular().protect(found.table, found.sensitive)
            if hide
            else ProtectedTable(found.table, found.sensitive, found.table.value)
        )
        notes = {**made.notes, **_told(found)}
        return ProtectedTable(found.table, found.sensitive, made.published, self.describe(), notes)


def _told(found: Redesign) -> dict[str, object]:
    return {
        "merged": found.merged,
        "information lost": found.information_lost,
        "cells lost": found.cells_lost,
        "proved": found.proved,
        "least": found.least,
    }
