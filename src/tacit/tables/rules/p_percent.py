"""The p % rule."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from tacit.core.method import Try
from tacit.tables.rule import Rule
from tacit.tables.rules._concentration import (
    Level,
    above_zero,
    contributions_of,
    in_units_of_value,
    refuse_negative,
    sum_of_largest,
)
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class PPercent(
    Rule, key="p-percent", title="p % rule", cites=("hundepool2012",), example={"p": 10}
):
    r"""A cell is sensitive if a contributor could estimate another one too closely.

    The largest contribution is the one most in danger, the next largest contributor the one who
    can estimate it best, by taking its own contribution from the total. A cell of one or two
    contributors is always sensitive, unless what they contribute is nothing.

    Missing values: records without a value are not part of a table. Weights: a contribution of
    weight w stands for w equal ones, as tau-ARGUS does it. Households: not considered; name them
    as holdings if their members may act together.

    Notes
    -----
    With contributions :math:`x_1 \ge x_2 \ge \ldots`, total :math:`X` and intruders who are the
    :math:`n` next largest contributors together, the cell is sensitive if

    .. math:: X - x_1 - \sum_{i=2}^{n+1} x_i < \frac{p}{100} x_1;

    a tie is safe. The interval of an intruder from outside must reach up and down by the
    difference of the two sides [hundepool2012]_.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNNSSS"), "turnover": [60, 30, 3, 40, 30, 30]})
    >>> table = tacit.tabulate(frame, "region", "turnover")
    >>> tables.PPercent(p=10).sensitive(table).above.tolist()
    [0.0, 3.0, 0.0]
    """

    word: ClassVar[str] = "p"
    in_order: ClassVar[tuple[str, ...]] = ("p", "n")

    p: Annotated[float, Gt(0), Try(5.0, 10.0, 15.0)] = 10.0
    """Percentage of the largest contribution within which nobody may estimate it."""
    n: Annotated[int, Ge(1), Try(1, 2)] = 1
    """How many contributors may put their knowledge together."""
    level: Level = "respondent"
    """Whether contributors are respondents or holdings."""
    absolute: bool = False
    """Whether negative contributions are compared by their absolute values."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions to a cell the rule looks at."""
        return self.n + 1

    def sensitive(self, table: Table) -> Sensitive:
        """Return the cells in which somebody could be estimated too closely."""
        found = contributions_of(table, self.level, self.short())
        refuse_negative(table, found, self.absolute, self.short())
        first = sum_of_largest(found, 1, self.short())
        known = sum_of_largest(found, self.n + 1, self.short())
        need = self.p / 100 * first - (found.absolute - known)
        level = in_units_of_value(table, found, need)
        return Sensitive.by(self.short(), above_zero(need, found.absolute), level)
