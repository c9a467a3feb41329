"""A model must not predict almost perfectly."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from tacit.query._pair_answer import correlations
from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class RSquared(Guard, key="r-squared", title="Limit on R squared", cites=("lucero2011",)):
    """Refuse models that explain nearly all variation: they predict each unit's value.

    For a link the share of deviance counts, for correlations their largest square.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> RSquared(limit=0.95).limit
    0.95
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "responses that are a function of the predictors (R5)"
    misses: ClassVar[str] = "a category that is predicted well"
    costs: ClassVar[str] = "models that predict too well are refused"
    limit: Annotated[float, Interval(gt=0, lt=1)] = 0.99
    """Largest R squared that is released."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Look at the share explained."""
        model = context.evidence
        if isinstance(model, Model) and not _share(model) <= self.limit:
            raise self.refuse("the model predicts the response too well")
        return context


def _share(model: Model) -> float:
    if model.formula.response is not None:
        return model.fit.explained
    apart = correlations(model)[np.triu_indices(len(model.names) - 1, 1)]
    return float(np.max(apart**2, initial=0.0))
