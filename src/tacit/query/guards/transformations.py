"""A list of transformations that users may apply to numbers."""

from __future__ import annotations

from typing import ClassVar

from tacit.query._model_request import formula_of
from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class Transformations(
    Guard, key="transformations", title="Listed transformations", cites=("lucero2011",)
):
    """Refuse transformations that are not on a list.

    A free transformation could single out one unit, as the artificial outlier
    1 / (abs(x - x_m) + e) does. ``bin`` uses a number through its public bins.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> Transformations().allowed
    ('square', 'sqrt', 'log', 'bin')
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "the artificial outlier (R2)"
    misses: ClassVar[str] = "a telling variable of the data"
    costs: ClassVar[str] = "other functions of a number are refused"
    allowed: tuple[str, ...] = ("square", "sqrt", "log", "bin")
    """Transformations that may be used."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Look at every transformation of a formula."""
        formula = formula_of(request)
        used = {f.transform for f in formula.factors} - {None} if formula is not None else set()
        if used - set(self.allowed):
            raise self.refuse("the transformation is not allowed", f"use {', '.join(self.allowed)}")
        return context
