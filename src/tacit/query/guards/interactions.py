"""Rules for interactions between predictors."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query._model_request import formula_of
from tacit.query.analysis import Analysis
from tacit.query.formula import Formula
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import is_category


class Interactions(
    Guard, key="interactions", title="Limits on interactions", cites=("lucero2011",)
):
    """Refuse high interactions, those without their lower terms, and fully interacted categories.

    A model of categories with all their interactions is a table: its coefficients are means of
    cells, however small.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> Interactions().most
    3
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "saturated models, which are tables in disguise (R4)"
    misses: ClassVar[str] = "sparse cells of what is allowed"
    costs: ClassVar[str] = "interactions of high order, or without their lower terms, are refused"
    most: Annotated[int, Ge(1)] = 3
    """Most variables that may interact."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Look at the interactions of a formula."""
        formula = formula_of(request)
        if formula is None:
            return context
        if max(map(len, formula.terms)) > self.most:
            raise self.refuse(f"at most {self.most} variables may interact")
        if not _has_lower_terms(formula):
            raise self.refuse("an interaction needs all its lower terms", "write a*b, not a:b")
        if _is_table(formula, context):
            raise self.refuse("categories may not be fully interacted", "ask for a table instead")
        return context


def _has_lower_terms(formula: Formula) -> bool:
    present = {frozenset(term) for term in formula.terms}
    return all(
        frozenset(part) in present
        for term in formula.terms
        for size in range(1, len(term))
        for part in combinations(term, size)
    )


def _is_table(formula: Formula, context: Context) -> bool:
    factors = {f for term in formula.terms for f in term}
    if len(factors) < 2 or not all(is_category(f, context.schema) for f in factors):
        return False
    return any(set(term) == factors for term in formula.terms)
