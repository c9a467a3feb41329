"""Numbers of a model are released no more finely than they are known."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Interval

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Digits, Model


class ReleaseDigits(Guard, key="release-digits", title="Rounded results", cites=()):
    """Round coefficients to a share of their standard error, and the number of units.

    Digits beyond the standard error tell nothing about the population, only about the units; they
    are what an attacker needs to solve for one of them. Rounding also hides in which order an
    engine added up.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Examples
    --------
    >>> ReleaseDigits().share
    0.1
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "solving for a unit from many digits (R6)"
    misses: ClassVar[str] = "large influences"
    costs: ClassVar[str] = "digits beyond a share of the standard error"
    share: Annotated[float, Interval(gt=0, le=1)] = 0.1
    """Coefficients are rounded to this share of their standard error."""
    n_base: Annotated[int, Ge(1)] = 10
    """The number of units is rounded to a multiple of this."""
    significant: Annotated[int, Interval(ge=1, le=6)] = 3
    """Significant digits of standard errors, sums of squares and covariances."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Say how finely the results may be released."""
        model = context.evidence
        if not isinstance(model, Model):
            return context
        digits = Digits(self.n_base, self.share, self.significant)
        return context.amended(
            f"coefficients are rounded to {self.share:g} of their standard error",
            evidence=model.with_(digits=digits),
        )
