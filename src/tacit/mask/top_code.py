"""Top coding."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from tacit.core.method import Try
from tacit.mask._tail import Quantile, TailCode, Threshold


class TopCode(
    TailCode,
    key="top-code",
    title="Top coding",
    cites=("domingoferrer2007", "hundepool2012"),
    example={"column": "income", "quantile": 0.95, "replacement": "mean"},
    at_scale="native",
):
    r"""Give one common value to all values at or above a threshold.

    Missing values stay missing.
    Weights are used for the quantile, the mean and the median where the schema has them.
    Households are not considered; values are coded one by one.

    When not to use it: where totals and spread of the tail matter; a mean in its place keeps the
    total, nothing keeps the spread.

    Notes
    -----
    The tail is :math:`T = \{i : x_i \ge t\}` [domingoferrer2007]_. The threshold :math:`t` is
    given, or is the smallest value with at least a share :math:`q` of the weight at or below it.
    All values of the tail become the threshold itself, so that no released value is above it,
    or

    .. math:: \bar x_T = \sum_{i \in T} w_i x_i \Big/ \sum_{i \in T} w_i,

    which keeps the weighted total, or the median of the tail, or a category such as ``65+``
    (the column then holds ordered categories). The mean or median of a very small tail would
    give its values away; it is refused.

    Ordinal columns with declared categories can be coded too: the threshold is then a category.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> plan = tacit.Plan([mask.TopCode(column="Age", threshold=50)])
    >>> plan.apply(data, seed=1).frame["Age"].max()
    50
    """

    side: ClassVar[Literal["top", "bottom"]] = "top"

    threshold: Threshold = None
    """Values at or above this one are coded; a category for ordinal variables."""
    quantile: Annotated[Quantile, Try(0.9, 0.95, 0.98, 0.99)] = None
    """Share of the (weighted) distribution at or below the threshold, instead of the threshold."""
