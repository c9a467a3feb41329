"""A limit on the number of predictors."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query._model_request import formula_of
from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class PredictorLimit(
    Guard, key="predictor-limit", title="Limit on predictors", cites=("lucero2011",)
):
    """Refuse models with many predictors.

    Interactions do not count, a variable that is used twice counts once, as in the Microdata
    Analysis System.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> PredictorLimit().most
    20
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "models as detailed as the data"
    misses: ClassVar[str] = "a single telling predictor"
    costs: ClassVar[str] = "no more predictors than that"
    most: Annotated[int, Ge(1)] = 20
    """Most predictors of one model."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Count the predictors of a formula."""
        formula = formula_of(request)
        if formula is not None and len(formula.predictors) > self.most:
            raise self.refuse(f"a model has at most {self.most} predictors", "use fewer predictors")
        return context
