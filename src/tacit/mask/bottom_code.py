"""Bottom coding."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Try
from tacit.mask._tail import Quantile, Replacement, Tail, Threshold, check_choices, code_tail


class BottomCode(
    Mask,
    key="bottom-code",
    title="Bottom coding",
    cites=("domingoferrer2007", "hundepool2012"),
    example={"column": "age", "threshold": 15, "replacement": "category"},
):
    r"""Give one common value to all values at or below a threshold.

    Missing values stay missing.
    Weights are used for the quantile, the mean and the median where the schema has them.
    Households are not considered; values are coded one by one.

    When not to use it: where totals and spread of the tail matter; a mean in its place keeps the
    total, nothing keeps the spread.

    Notes
    -----
    The tail is :math:`T = \{i : x_i \le t\}` [domingoferrer2007]_. The threshold :math:`t` is
    given, or is the smallest value with at least a share :math:`q` of the weight at or below it.
    All values of the tail become the threshold itself, so that no released value is below it,
    or

    .. math:: \bar x_T = \sum_{i \in T} w_i x_i \Big/ \sum_{i \in T} w_i,

    which keeps the weighted total, or the median of the tail, or a category such as ``<= 17``
    (the column then holds ordered categories). The mean or median of a very small tail would
    give its values away; it is refused.

    Ordinal columns with declared categories can be coded too: the threshold is then a category.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> plan = tacit.Plan([mask.BottomCode(column="Age", threshold=40)])
    >>> plan.apply(data, seed=1).frame["Age"].min()
    40
    """

    column: str
    """Numeric variable, or ordinal variable with declared categories."""
    threshold: Threshold = None
    """Values at or below this one are coded; a category for ordinal variables."""
    quantile: Annotated[Quantile, Try(0.1, 0.05, 0.02, 0.01)] = None
    """Share of the (weighted) distribution at or below the threshold, instead of the threshold."""
    replacement: Replacement = "threshold"
    """What the coded values become: the threshold, the tail's mean or median, or a category."""
    label: str | None = None
    """Name of the category; by default made from the threshold."""
    at_least: Annotated[int, Ge(1)] = 3
    """Smallest tail of which a mean or median may be released."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_choices(self.threshold, self.quantile, self.replacement, self.label)
        return self

    def describe(self) -> str:
        """Say in plain words what was coded."""
        return f"{self.title}: {self._tail.describe()}"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with a coded lower tail."""
        return code_tail(data, self._tail)

    @property
    def _tail(self) -> Tail:
        return Tail(side="bottom", **dict(self))
