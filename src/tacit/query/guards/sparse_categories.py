"""Rare categories are counted with the reference."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class SparseCategories(
    Guard, key="sparse-categories", title="Rare categories join the reference",
    cites=("lucero2011",),
):  # fmt: skip
    """Take dummies of few units out of a model, so that they count with the most common category.

    The same holds for combinations of categories in interactions. Units are counted among the
    complete records, each once. Records with
    missing values do not count. Weights play no part, and a unit may be a household.

    Examples
    --------
    >>> SparseCategories(minimum=20).minimum
    20
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "dummies of few units (R1)"
    misses: ClassVar[str] = "a number that singles out a unit (R3)"
    costs: ClassVar[str] = "rare categories join the reference"
    minimum: Annotated[int, Ge(1)] = 10
    """Fewest units of a category that keeps its dummy."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Take out the dummies of rare categories, and every interaction with them."""
        model = context.evidence
        if not isinstance(model, Model):
            return context
        rare = [j for j in model.kept if _is_below(model.support(j), self.minimum)]
        if not rare:
            return context
        return context.amended(
            "categories of few units are counted with the reference", evidence=model.without(rare)
        )


def _is_below(size: int | None, minimum: int) -> bool:
    return size is not None and size < minimum
