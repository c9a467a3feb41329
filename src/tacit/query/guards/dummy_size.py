"""A dummy must stand for enough units, and leave enough others."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class DummySize(
    Guard, key="dummy-size", title="Smallest dummy", cites=("lucero2011", "bleninger2011")
):
    """Refuse models with a dummy of few units, or with a reference of few units.

    The coefficient of a dummy with one unit reveals that unit's response exactly (the strategic
    dummy).

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> DummySize().minimum
    10
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "the strategic dummy (R1)"
    misses: ClassVar[str] = "a number that singles out a unit (R3)"
    costs: ClassVar[str] = "models with a tiny category are refused"
    minimum: Annotated[int, Ge(1)] = 10
    """Fewest units for which a dummy is 1, and fewest for which it is 0."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Look at the size of every dummy in the model."""
        model = context.evidence
        if not isinstance(model, Model):
            return context
        sizes = [size for j in model.kept if (size := model.support(j)) is not None]
        if any(min(size, model.found.units - size) < self.minimum for size in sizes):
            raise self.refuse("a category has too few units", "merge or leave out categories")
        return context
