"""Logistic regression of a category, or of a number that is 0 or 1."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tacit.query._model_answer import parsed, regression
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.formula import needs_of
from tacit.query.model import Model, gathered


class Logistic(
    Analysis,
    key="logistic",
    title="Logistic regression",
    cites=("lucero2011",),
    example={"formula": "employed ~ sex + age", "event": "true"},
):
    r"""Explain how likely one category is.

    The log odds of `event` are linear in the predictors; estimates maximise the (weighted)
    likelihood by Fisher scoring, one pass over the data in their engine per step. Records with a
    missing value are left out.

    A unit may be a household.

    Examples
    --------
    >>> Logistic(formula="employed ~ age", event="yes").variables().categories
    ('employed', 'age')
    """

    formula: Annotated[str, Field(max_length=2000)]
    """Response, ``~``, predictors: ``y ~ a + b*c + log(d)``."""
    event: Annotated[str, Field(max_length=200)]
    """The category of the response whose probability is explained."""
    weighted: bool = False
    """Whether survey weights are used."""

    def variables(self) -> Needs:
        """Return the variables of the formula."""
        return needs_of(parsed(self.formula), self.weighted)

    def gather(self, view: View) -> Model:
        """Take the moments of the design."""
        formula = parsed(self.formula)
        return gathered(formula, view, link="logit", weighted=self.weighted, event=self.event)

    def compute(self, evidence: Model) -> Answer:
        """Return coefficients, standard errors and the analysis of deviance."""
        return regression(evidence, self.key)
