"""No unit may carry much of the weight in its own prediction."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class Leverage(Guard, key="leverage", title="Largest leverage", cites=("bleninger2011",)):
    r"""Refuse models in which the leverage of a unit is above 1 / `n0`.

    A unit may be a household.

    Notes
    -----
    The leverage :math:`h_i = w_i x_i'(X'WX)^{-1}x_i` is the weight of a unit's own response in its
    prediction. A dummy for q units gives each of them 1/q, so the rule is the continuous form of
    "at least `n0` units per cell"; an artificial outlier has a leverage near 1. It acts on the
    design that is left after missing values, with survey weights, and, for a link, both with and
    without the working weights. The records of one unit count together.

    Examples
    --------
    >>> Leverage(n0=20).n0
    20
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "any column that singles out a unit, however it is made (R1 to R4, R7)"
    misses: ClassVar[str] = "differences of two models (R6)"
    costs: ClassVar[str] = (
        "raw sizes with a very long tail are refused: take `log()` or `bin()`; one more pass "
        "over the data, shared with `score-noise`"
    )
    n0: Annotated[int, Ge(2)] = 10
    """Units that must share the weight of one: leverage is at most 1 / n0."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Find the most exposed unit."""
        model = context.evidence
        if isinstance(model, Model) and not model.leverage_within(1 / self.n0):
            raise self.refuse(
                "a single unit has too much weight in the model",
                "use log() or bin() of skewed variables, or fewer categories",
            )
        return context
