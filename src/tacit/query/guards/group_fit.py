"""No category may be predicted almost perfectly."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from tacit.query.analysis import Analysis
from tacit.query.evidence import GroupFit as Fitted
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model


class GroupFit(Guard, key="group-fit", title="Fit of subgroups", cites=("lucero2011",)):
    r"""Refuse models that predict the units of some category within a few per cent.

    The reference, with the sparse categories that were joined to it, is one of the categories.
    Where there are too many combinations of categories to look at, the model is refused.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Notes
    -----
    For category g with residuals r: refused when both the error is small against the values,
    :math:`\sqrt{\overline{r^2}} < p \sqrt{\overline{y^2}}`, and against the variation of all
    units, :math:`\overline{r^2} < (1 - L)\,s_y^2`. The second condition lets responses pass whose
    values are large only because of their origin, such as years or logarithms.

    Examples
    --------
    >>> GroupFit().p
    10.0
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "a category that is predicted too well (R5)"
    misses: ClassVar[str] = "single units"
    costs: ClassVar[str] = "such models are refused"
    p: Annotated[float, Interval(gt=0, le=100)] = 10.0
    """A category is predicted too well if its errors are below this many per cent of its values."""
    limit: Annotated[float, Interval(gt=0, lt=1)] = 0.99
    """... and below 1 - limit of the variance of all units."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Compare the errors of each category with its values and with all variation."""
        model = context.evidence
        if not isinstance(model, Model) or model.formula.response is None:
            return context
        fits = model.parts.groups
        if any(name not in fits for name in model.categories):
            raise self.refuse(
                "there are too many combinations of categories to see how well each is predicted",
                "use fewer or coarser categories",
            )
        if any(self._is_too_good(model, fit) for fit in fits.values()):
            raise self.refuse("the model predicts some category too well")
        return context

    def _is_too_good(self, model: Model, fit: Fitted) -> bool:
        if fit.weight <= 0:
            return False
        error = fit.residual_square / fit.weight
        variance = _variance(model)
        if error <= 1e-12 * variance:
            return True
        if error >= (1 - self.limit) * variance:
            return False
        if model.link == "logit":
            return True
        return bool(np.sqrt(error) < self.p / 100 * np.sqrt(_mean_square(model, fit)))


def _variance(model: Model) -> float:
    """Return the variance of the response of all units, in the units of residuals."""
    found = model.found
    standard = (found.yty - found.y_sum**2 / found.weight) / found.weight
    scale = 1.0 if model.link == "identity" or found.scale is None else float(found.scale[-1])
    return standard * scale**2


def _mean_square(model: Model, fit: Fitted) -> float:
    """Return the mean square of a category's values as users know them, in units of residuals."""
    if model.link != "identity" or model.found.scale is None or model.found.centre is None:
        return fit.y_square / fit.weight
    shift = float(model.found.centre[-1] / model.found.scale[-1])
    return (fit.y_square + 2 * shift * fit.y_sum) / fit.weight + shift**2
