"""The prior-posterior rule, also called (p, q) rule."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

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


class PriorPosterior(
    Rule,
    key="prior-posterior",
    title="Prior-posterior rule",
    cites=("hundepool2012",),
    example={"p": 10, "q": 40},
):
    r"""A cell is sensitive if it sharpens what a contributor knew of another too much.

    Before publication everyone can estimate every contribution to within q percent; afterwards
    nobody may do so to within p percent. With q = 100 this is the p % rule.

    Missing values: records without a value are not part of a table. Weights: a contribution of
    weight w stands for w equal ones, as tau-ARGUS does it. Households: not considered; name them
    as holdings if their members may act together.

    Notes
    -----
    With contributions :math:`x_1 \ge x_2 \ge \ldots` and total :math:`X`, the cell is sensitive
    if :math:`\frac{q}{100}\bigl(X - \sum_{i \le n+1} x_i\bigr) < \frac{p}{100} x_1`; a tie is safe.
    The interval must reach up and down by [hundepool2012]_

    .. math:: \frac{p}{q} x_1 - \Bigl(X - \sum_{i \le n+1} x_i\Bigr).

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNNSSS"), "turnover": [60, 30, 3, 40, 30, 30]})
    >>> table = tacit.tabulate(frame, "region", "turnover")
    >>> tables.PriorPosterior(p=10, q=40).sensitive(table).above.tolist()
    [0.0, 12.0, 0.0]
    """

    word: ClassVar[str] = "pq"
    in_order: ClassVar[tuple[str, ...]] = ("p", "q", "n")
    shown: ClassVar[int] = 2

    p: Annotated[float, Gt(0), Try(5.0, 10.0, 15.0)] = 10.0
    """Percentage within which nobody may estimate a contribution afterwards."""
    q: Annotated[float, Gt(0), Le(100), Try(40.0, 60.0, 100.0)] = 100.0
    """Percentage within which everybody can estimate a contribution beforehand."""
    n: Annotated[int, Ge(1), Try(1, 2)] = 1
    """How many contributors may put their knowledge together."""
    level: Level = "respondent"
    """Whether contributors are respondents or holdings."""
    absolute: bool = False
    """Whether negative contributions are compared by their absolute values."""

    @model_validator(mode="after")
    def _check(self) -> PriorPosterior:
        if self.p >= self.q:
            raise ValueError("needs p below q: knowledge cannot become less")
        return self

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
        need = self.p / self.q * first - (found.absolute - known)
        level = in_units_of_value(table, found, need)
        return Sensitive.by(self.short(), above_zero(need, found.absolute), level)
