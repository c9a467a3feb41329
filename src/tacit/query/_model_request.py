"""The formula of a request, for rules that look at it before any data are read."""

from __future__ import annotations

from tacit.query._model_answer import parsed
from tacit.query._pair_answer import listed
from tacit.query.analysis import Analysis
from tacit.query.formula import Formula


def formula_of(request: Analysis) -> Formula | None:
    """Return the formula of a model, the variables of a correlation, or nothing."""
    text = getattr(request, "formula", None)
    if isinstance(text, str):
        return parsed(text)
    if request.key in ("correlation", "covariance"):
        return listed(tuple(getattr(request, "columns", ())))
    return None
