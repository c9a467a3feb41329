"""Analysis of variance, term by term."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tacit.query._model_answer import (
    explained,
    notes,
    parsed,
    squares_scale,
    term_columns,
    total,
    variance_rows,
)
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.formula import needs_of
from tacit.query.model import Model, gathered


class Anova(
    Analysis,
    key="anova",
    title="Analysis of variance",
    cites=("lucero2011",),
    example={"formula": "income ~ sex + age"},
):
    """Say how much of a number's variation each term explains after those before it.

    Sums of squares are sequential, lower orders first, and come from the moments of one pass. Only
    unweighted, because F tests with survey weights would be wrong. Records with a missing value are
    left out.

    A unit may be a household.

    Examples
    --------
    >>> Anova(formula="wage ~ sex*region").variables().categories
    ('wage', 'sex', 'region')
    """

    formula: Annotated[str, Field(max_length=2000)]
    """Response, ``~``, predictors: ``y ~ a + b*c + log(d)``."""

    def variables(self) -> Needs:
        """Return the variables of the formula."""
        return needs_of(parsed(self.formula), False)

    def gather(self, view: View) -> Model:
        """Take the moments of the design."""
        return gathered(parsed(self.formula), view)

    def compute(self, evidence: Model) -> Answer:
        """Return the table of variance."""
        scale = squares_scale(evidence)
        parts, before, columns = [], 0.0, [0]
        for name, added in term_columns(evidence).items():
            columns += added
            now = explained(evidence, columns) * scale
            parts.append((name, len(added), max(now - before, 0.0)))
            before = now
        whole = total(evidence) * scale
        free = evidence.n_published - evidence.fit.n_columns
        residual = ("residual", free, max(whole - before, 0.0))
        return Answer(
            analysis=self.key,
            columns=variance_rows(evidence, parts, residual, whole),
            values={"formula": str(evidence.formula), "n": evidence.n_published},
            notes=notes(evidence),
        )
