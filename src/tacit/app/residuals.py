"""Synthetic residual plots of a model, drawn from answers of a query server and nothing else.

Whether a number should enter a model as it does is asked by asking again, with the bins of the
number beside it. Both answers have passed every rule of the policy; what is drawn from them tells
no more than they do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError

if TYPE_CHECKING:
    from tacit.query import Answer
    from tacit.query.diagnostics import Diagnostic

_FUNCTIONS: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    None: np.positive,
    "square": np.square,
    "sqrt": np.sqrt,
    "log": np.log,
}
_POINTS = 25
"""Points of a bin."""
_LIMIT = 4.0


def further_requests(
    request: Mapping[str, Any], variables: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return for each number that explains by itself the request that shows whether it fits.

    Examples
    --------
    >>> age = {"name": "age", "cutpoints": [30, 60], "bins": ["-29", "30-59", "60-"]}
    >>> further_requests({"method": "ols", "formula": "income ~ age + sex"}, [age])
    {'age': {'method': 'ols', 'formula': 'income ~ age + sex + bin(age)'}}
    """
    from tacit.query.formula import Factor, Formula

    if request.get("method") != "ols" or request.get("huber"):
        return {}
    formula = Formula.parse(str(request["formula"]))
    alone = {term[0].variable for term in formula.terms if len(term) == 1}
    joined = {factor.variable for term in formula.terms if len(term) > 1 for factor in term}
    binned = {f.variable for term in formula.terms for f in term if f.transform == "bin"}
    return {
        v["name"]: {**request, "formula": f"{request['formula']} + {Factor(v['name'], 'bin')}"}
        for v in variables
        if "cutpoints" in v and v["name"] in alone - joined - binned
    }


def residual_plot(wider: Answer, variable: Mapping[str, Any]) -> Diagnostic:
    r"""Draw residuals that a model of this fit would have, against a number.

    Parameters
    ----------
    wider
        Answer to one of `further_requests`.
    variable
        The number, as the server describes it.

    Notes
    -----
    Let :math:`f_j` be what the terms of the number and the coefficient of bin *j* explain in the
    middle of that bin. What is left of *f* after a least-squares fit of the terms alone, over the
    residual standard deviation, is the mean of the synthetic residuals in the bin: zero
    everywhere if the model is right. Around it they are standard normal, cut at 4; places within
    a bin are uniform. Spread that differs from bin to bin is therefore not shown.
    """
    from tacit.query.diagnostics import Diagnostic

    name = str(variable["name"])
    terms = dict(zip(wider.columns["term"], wider.columns["coefficient"], strict=True))
    low, high, effect = _effects(terms, variable)
    middle = (low + high) / 2
    shape = np.column_stack([np.ones_like(middle), *_terms_of(name, terms, middle).values()])
    if len(middle) <= shape.shape[1]:
        raise DataError("the number has too few bins to tell")
    left = effect - shape @ np.linalg.lstsq(shape, effect, rcond=None)[0]
    mean = np.clip(left / _spread(wider), -_LIMIT, _LIMIT)
    rng = np.random.default_rng(_seed(wider))
    x = rng.uniform(np.repeat(low, _POINTS), np.repeat(high, _POINTS))
    shown = np.clip(np.repeat(mean, _POINTS) + rng.standard_normal(len(x)), -_LIMIT, _LIMIT)
    return Diagnostic(
        str(wider.values["formula"]).split("~")[0].strip(), name,
        x=tuple(x.tolist()), residual=tuple(shown.tolist()),
        curve=tuple(zip(middle.tolist(), mean.tolist(), strict=True)),
    )  # fmt: skip


def _effects(
    terms: Mapping[str, float], variable: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends of the bins that are in the model, and what is explained in their middle."""
    name, edges = str(variable["name"]), np.asarray(variable["cutpoints"], float)
    if len(edges) < 2:
        raise DataError("the number has too few bins to tell")
    # The outermost bins have no end that is known; they are drawn as wide as their neighbours, but
    # nobody is shown an age below zero.
    low = 2 * edges[0] - edges[1]
    ends = np.concatenate(
        [[max(low, 0.0) if edges[0] > 0 else low], edges, [2 * edges[-1] - edges[-2]]]
    )
    labels = list(variable["bins"])[: len(ends) - 1]
    given = [terms.get(f"{name}[{label}]") for label in labels]
    reference = given.count(None) == 1  # the one bin that has no coefficient
    kept = [j for j, value in enumerate(given) if value is not None or reference]
    left, right = ends[kept], ends[np.array(kept, int) + 1]
    own = _terms_of(name, terms, (left + right) / 2)
    linear = sum((terms[term] * column for term, column in own.items()), np.zeros(len(kept)))
    return left, right, linear + np.array([given[j] or 0.0 for j in kept])


def _terms_of(name: str, terms: Mapping[str, float], x: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of a number, plain and transformed, at some places."""
    from tacit.query.formula import Factor

    written = {str(Factor(name, how)): function for how, function in _FUNCTIONS.items()}
    with np.errstate(all="ignore"):
        found = {term: f(x) for term, f in written.items() if term in terms}
    if not all(np.isfinite(column).all() for column in found.values()):
        raise DataError("a transformation has no value in one of the bins")
    return found


def _spread(answer: Answer) -> float:
    """Return the residual standard deviation of an answered model."""
    anova = answer.values["anova"]
    variance = dict(zip(anova["source"], anova["mean"], strict=True))["residual"]
    if not variance or variance <= 0:
        raise DataError("the model leaves nothing unexplained")
    return float(np.sqrt(variance))


def _seed(answer: Answer) -> int:
    """Return a seed that is the same for the same answer, so that the plot does not flicker."""
    text = f"{answer.values['formula']} {answer.columns}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
