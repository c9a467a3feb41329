"""Linear regression by least squares, or by Huber's robust estimate."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tacit.query._model_answer import parsed, regression
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.formula import needs_of
from tacit.query.model import Model, gathered


class Ols(
    Analysis,
    key="ols",
    title="Linear regression",
    cites=("lucero2011", "bleninger2011"),
    example={"formula": "income ~ sex + age"},
):
    r"""Explain a number by a linear function of others.

    Coefficients :math:`\hat\beta = (X'WX)^{-1}X'Wy` come from sums that the engine adds up; no
    record leaves it. Categories are compared with the most common one. With survey weights, or with
    `robust_errors`, standard errors are those of the sandwich
    :math:`(X'WX)^{-1}\left(\sum w_i^2 r_i^2 x_i x_i'\right)(X'WX)^{-1}`. With `huber`, residuals
    beyond 1.345 robust standard deviations count less. Records with a missing value are left out.

    A unit may be a household.

    Examples
    --------
    >>> Ols(formula="log(wage) ~ age + region").variables().numbers
    ('wage',)
    """

    formula: Annotated[str, Field(max_length=2000)]
    """Response, ``~``, predictors: ``y ~ a + b*c + log(d)``."""
    weighted: bool = False
    """Whether survey weights are used."""
    robust_errors: bool = False
    """Whether standard errors allow for residuals of unequal variance."""
    huber: bool = False
    """Whether outlying responses count less (Huber's estimate)."""

    def variables(self) -> Needs:
        """Return the variables of the formula."""
        return needs_of(parsed(self.formula), self.weighted)

    def gather(self, view: View) -> Model:
        """Take the moments of the design."""
        formula = parsed(self.formula)
        return gathered(formula, view, weighted=self.weighted, is_robust=self.huber)

    def compute(self, evidence: Model) -> Answer:
        """Return coefficients, standard errors and the analysis of variance."""
        return regression(evidence, self.key, self.robust_errors)
