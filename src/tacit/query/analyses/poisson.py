"""Poisson regression of counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tacit.query._model_answer import parsed, regression
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer, Refused
from tacit.query.formula import needs_of
from tacit.query.model import Model, gathered


class Poisson(
    Analysis,
    key="poisson",
    title="Poisson regression",
    cites=("mccullagh1989",),
    example={"formula": "age ~ sex"},
):
    r"""Explain a count: its logarithm is linear in the predictors on average.

    Estimates maximise the (weighted) Poisson likelihood by Fisher scoring, one pass over the data
    in their engine per step. There is no offset: a user could hide a unit in it. Records with a
    missing value are left out.

    A unit may be a household.

    Examples
    --------
    >>> Poisson(formula="visits ~ age").variables().categories
    ('visits', 'age')
    """

    formula: Annotated[str, Field(max_length=2000)]
    """Response, ``~``, predictors: ``y ~ a + b*c + log(d)``."""
    weighted: bool = False
    """Whether survey weights are used."""

    def variables(self) -> Needs:
        """Return the variables of the formula."""
        return needs_of(parsed(self.formula), self.weighted)

    def gather(self, view: View) -> Model:
        """Take the moments of the design."""
        formula = parsed(self.formula)
        if formula.response is not None and formula.response.transform is not None:
            raise Refused("transformations", "a count cannot be transformed")
        return gathered(formula, view, link="log", weighted=self.weighted)

    def compute(self, evidence: Model) -> Answer:
        """Return coefficients, standard errors and the analysis of deviance."""
        return regression(evidence, self.key)
