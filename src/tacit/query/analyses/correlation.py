"""Correlations of numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tacit.core.method import Columns
from tacit.query._pair_answer import listed, pair_answer, rounded_correlations, with_noise
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.model import Model, gathered


class Correlation(
    Analysis,
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
        """Return the correlation of each pair."""
        values, _ = with_noise(evidence)
        return pair_answer(
            evidence, self.key, rounded_correlations(evidence, values), "correlation"
        )
