"""Variances and covariances of numbers."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tacit.core.method import Columns
from tacit.query._pair_answer import listed, pair_answer, rounded_covariances, with_noise
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.model import Model, gathered


class Covariance(
    Analysis,
    key="covariance",
    title="Covariance",
    cites=("lucero2011",),
    example={"columns": ["age", "income"]},
):
    """Say how numbers vary, alone and together.

    Variances and covariances, with n - 1 in the denominator, come from the moments of one pass over
    the data in their engine. Records with a missing value in any of the variables are left out.

    With weights, figures are those of the population. A unit may be a household.

    Examples
    --------
    >>> Covariance(columns=["age", "sqrt(income)"]).variables().numbers
    ('age', 'income')
    """

    columns: Annotated[Columns, Field(max_length=20)]
    """Numeric variables, each as it is or transformed: ``age``, ``log(income)``."""
    weighted: bool = False
    """Whether survey weights are used."""

    def variables(self) -> Needs:
        """Return the variables."""
        return Needs(numbers=listed(self.columns).variables, weighted=self.weighted)

    def gather(self, view: View) -> Model:
        """Take the moments of the variables."""
        return gathered(listed(self.columns), view, weighted=self.weighted)

    def compute(self, evidence: Model) -> Answer:
        """Return the covariance of each pair."""
        correlation, factor = with_noise(evidence)
        found = evidence.found
        scale = np.ones(len(found.names)) if found.scale is None else found.scale[1:-1]
        n = found.n
        spread = scale * factor * np.sqrt(np.diag(found.xtx)[1:] / found.weight * n / (n - 1))
        values = correlation * np.outer(spread, spread)
        return pair_answer(evidence, self.key, rounded_covariances(evidence, values), "covariance")
