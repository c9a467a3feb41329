"""Bottom coding."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from tacit.core.method import Try
from tacit.mask._tail import Quantile, TailCode, Threshold


class BottomCode(
    TailCode,
    key="bottom-code",
    title="Bottom coding",
    cites=("domingoferrer2007", "hundepool2012"),
    example={"column": "age", "threshold": 15, "replacement": "category"},
    at_scale="native",
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

    side: ClassVar[Literal["top", "bottom"]] = "bottom"

    threshold: Threshold = None
    """Values at or below this one are coded; a category for ordinal variables."""
    quantile: Annotated[Quantile, Try(0.1, 0.05, 0.02, 0.01)] = None
    """Share of the (weighted) distribution at or below the threshold, instead of the threshold."""
