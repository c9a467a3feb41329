"""Variances and covariances of numbers."""

from __future__ import annotations

import numpy as np

from tacit.query._pair_answer import OfPairs, pair_answer, rounded_covariances, with_noise
from tacit.query.answer import Answer
from tacit.query.model import Model


class Covariance(
    OfPairs,
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

    def compute(self, evidence: Model) -> Answer:
        """Return the covariance of each pair."""
        correlation, factor = with_noise(evidence)
        found = evidence.found
        scale = np.ones(len(found.names)) if found.scale is None else found.scale[1:-1]
        n = found.n
        spread = scale * factor * np.sqrt(np.diag(found.xtx)[1:] / found.weight * n / (n - 1))
        values = correlation * np.outer(spread, spread)
        return pair_answer(evidence, self.key, rounded_covariances(evidence, values), "covariance")
