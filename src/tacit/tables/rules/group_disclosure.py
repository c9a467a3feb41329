"""Group disclosure: everyone of a group is known to be in one category."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le

from tacit.core.errors import SchemaError, nearest
from tacit.core.method import Columns
from tacit.tables.rule import Rule
from tacit.tables.rules._margin import level_by_margin
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class GroupDisclosure(
    Rule,
    key="group-disclosure",
    title="Group disclosure",
    cites=("willenborg2001", "hundepool2012"),
    example={},
):
    r"""A cell is sensitive if the whole of a margin falls on it.

    All members of a group then share an attribute, and who is known to be in the group is known to
    have it, however large the group. Look at the dimensions whose categories must not become
    known about anyone.

    Missing values: as the table was built. Weights: records are counted unweighted where the
    table knows their number. Households: not considered.

    Notes
    -----
    For a margin of :math:`f` records broken down into :math:`f_1, \ldots, f_m` with
    :math:`m \ge 2`, category :math:`j` is sensitive if :math:`f_j \ge \frac{s}{100} f` and
    :math:`f > 0` [willenborg2001]_. An intruder's interval must reach down, so that some of the
    group might be elsewhere; it need not reach up.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"town": ["A"] * 4 + ["B"] * 2, "ill": ["yes"] * 4 + ["yes", "no"]})
    >>> table = tacit.tabulate(frame, ["town", "ill"])
    >>> table.describe(tables.GroupDisclosure(dimensions=["ill"]).sensitive(table).primary)
    '(A, yes)'
    """

    word: ClassVar[str] = "group"
    in_order: ClassVar[tuple[str, ...]] = ("share", "least")

    dimensions: Columns | None = None
    """Dimensions whose categories must not become known; by default all."""
    share: Annotated[float, Gt(50), Le(100)] = 100.0
    """Percentage of the margin in one category that is too much."""
    least: Annotated[int, Ge(1)] = 1
    """Smallest group that is looked at."""
    margin: Annotated[float, Ge(0)] = 0.0
    """Percentage of the value by which an intruder's interval must reach down."""

    def sensitive(self, table: Table) -> Sensitive:
        """Return the categories on which a margin falls."""
        size = table.value if table.count is None else table.count
        looked_at = self._relations(table)
        total, category = _pairs(table, looked_at)
        hit = (size[total] >= self.least) & (size[category] >= self.share / 100 * size[total])
        cells = np.zeros(table.n_cells, dtype=bool)
        cells[category[hit & (size[total] > 0)]] = True
        return Sensitive.by(self.short(), cells, 0.0, level_by_margin(table, self.margin))

    def _relations(self, table: Table) -> np.ndarray:
        """Return the sums along the dimensions that are looked at, of two parts or more."""
        several = np.diff(table.relations.indptr) > 2
        if self.dimensions is None:
            return np.asarray(several)
        names = [d.name for d in table.dimensions]
        for name in self.dimensions:
            if name not in names:
                raise SchemaError(f"there is no dimension {name!r}", do=nearest(name, names))
        axes = [names.index(name) for name in self.dimensions]
        starts = table.relations.indptr[:-1]
        one, other = (table.codes[table.relations.indices[starts + k]] for k in (0, 1))
        return np.asarray(several & (one != other)[:, axes].any(axis=1))


def _pairs(table: Table, looked_at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every total with every one of its parts."""
    looked_at = looked_at & (table.total_of >= 0)
    chosen = table.relations[np.flatnonzero(looked_at), :].tocoo()
    row, cell = chosen.coords
    total_of, part = table.total_of[looked_at], chosen.data > 0
    return total_of[row[part]], cell[part]
