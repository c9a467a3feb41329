"""A model needs many more units than coefficients."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Interval

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class DegreesOfFreedom(Guard, key="degrees-of-freedom", title="Degrees of freedom", cites=()):
    """Refuse models that leave few degrees of freedom, or have many coefficients per unit.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> DegreesOfFreedom().minimum
    10
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "nearly saturated models (R4)"
    misses: ClassVar[str] = "a single telling predictor"
    costs: ClassVar[str] = "small samples with many predictors are refused"
    minimum: Annotated[int, Ge(1)] = 10
    """Fewest units beyond the number of coefficients."""
    share: Annotated[float, Interval(gt=0, le=1)] = 0.2
    """Most coefficients per unit."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Compare the numbers of units and coefficients."""
        model = context.evidence
        if not isinstance(model, Model):
            return context
        units, size = model.found.units, len(model.kept)
        if units - size < self.minimum or size > self.share * units:
            raise self.refuse("the model has too many coefficients for its units")
        return context
