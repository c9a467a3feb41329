"""Correlations of numbers."""

from __future__ import annotations

from tacit.query._pair_answer import OfPairs, pair_answer, rounded_correlations, with_noise
from tacit.query.answer import Answer
from tacit.query.model import Model


class Correlation(
    OfPairs,
    key="correlation",
    title="Correlation",
    cites=("lucero2011",),
    example={"columns": ["age", "income"]},
):
    """Say how closely numbers move together.

    Pearson's correlations come from the moments of one pass over the data in their engine. A number
    may be transformed, as in ``log(income)``. Records with a missing value in any of the variables
    are left out, so that all correlations describe the same units.

    With weights, figures are those of the population. A unit may be a household.

    Examples
    --------
    >>> Correlation(columns=["age", "log(income)"]).variables().numbers
    ('age', 'income')
    """

    def compute(self, evidence: Model) -> Answer:
        """Return the correlation of each pair."""
        values, _ = with_noise(evidence)
        return pair_answer(
            evidence, self.key, rounded_correlations(evidence, values), "correlation"
        )
