"""The dominance rule, also called (n, k) rule."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Lt

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


class Dominance(
    Rule,
    key="dominance",
    title="Dominance rule",
    cites=("hundepool2012",),
    example={"n": 2, "k": 75},
):
    r"""A cell is sensitive if its few largest contributions make up most of it.

    Missing values: records without a value are not part of a table. Weights: a contribution of
    weight w stands for w equal ones, as tau-ARGUS does it. Households: not considered; name them
    as holdings if their members may act together.

    Notes
    -----
    With contributions :math:`x_1 \ge x_2 \ge \ldots` and total :math:`X`, the cell is sensitive
    if :math:`x_1 + \cdots + x_n > \frac{k}{100} X`; a tie is safe. An intruder's interval must
    reach up to the value at which the rule would no longer hold, that is by [hundepool2012]_

    .. math:: \frac{100}{k} \sum_{i \le n} x_i - X,

    and as far down.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNNSSS"), "turnover": [60, 30, 10, 40, 30, 30]})
    >>> table = tacit.tabulate(frame, "region", "turnover")
    >>> tables.Dominance(n=2, k=75).sensitive(table).above.tolist()
    [0.0, 20.0, 0.0]
    """

    word: ClassVar[str] = "dominance"
    aliases: ClassVar[tuple[str, ...]] = ("nk",)
    in_order: ClassVar[tuple[str, ...]] = ("n", "k")
    shown: ClassVar[int] = 2

    n: Annotated[int, Ge(1), Try(1, 2, 3)] = 2
    """How many of the largest contributions are taken together."""
    k: Annotated[float, Gt(0), Lt(100), Try(75.0, 85.0)] = 75.0
    """Percentage of the cell that they must not exceed."""
    level: Level = "respondent"
    """Whether contributions are those of respondents or of holdings."""
    absolute: bool = False
    """Whether negative contributions are compared by their absolute values."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions to a cell the rule looks at."""
        return self.n

    def sensitive(self, table: Table) -> Sensitive:
        """Return the dominated cells."""
        found = contributions_of(table, self.level, self.short())
        refuse_negative(table, found, self.absolute, self.short())
        need = sum_of_largest(found, self.n, self.short()) * 100 / self.k - found.absolute
        level = in_units_of_value(table, found, need)
        return Sensitive.by(self.short(), above_zero(need, found.absolute), level)
