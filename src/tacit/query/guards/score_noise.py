"""Noise on the equations of a model, at least as large as any unit's part in them."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from tacit.query._pair_answer import correlations
from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.model import Model

_MODULUS = 2**31 - 1


class ScoreNoise(
    Guard, key="score-noise", title="Noise on score equations", cites=("chipperfield2013",)
):
    r"""Solve the equations of a model with noise that no unit's part in them exceeds.

    Missing values count as they do in the request. Weights count as they do in the request. A
    unit may be a household.

    Notes
    -----
    The released coefficients solve :math:`X'W(y - \mu) = e` with
    :math:`e_j = u_j \max_i |w_i x_{ij} r_i|` and :math:`1 \le |u_j| \le 1 + s`. The sign and size
    of :math:`u_j` depend on the secret, the units, the response and the column, and on nothing
    else: asking again, or with other predictors beside it, gives the same noise, so that it does
    not average out. Standard errors include it. Sums of squares, correlations and variances get
    noise of the same kind.

    Examples
    --------
    >>> ScoreNoise().spread
    1.0
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "differences of models of nearly the same units (R6)"
    misses: ClassVar[str] = "a single telling predictor"
    costs: ClassVar[str] = "slightly wider standard errors, which include it"
    spread: Annotated[float, Interval(ge=0, le=10)] = 1.0
    """By how much the noise may exceed the largest part of a unit."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Draw the noise of each equation."""
        model = context.evidence
        if not isinstance(model, Model):
            return context
        noisy = self._pairs(model, context) if model.formula.response is None else self._scores(
            model, context
        )  # fmt: skip
        return context.amended("noise protects the units in a model", evidence=noisy)

    def _scores(self, model: Model, context: Context) -> Model:
        largest = model.parts.scores
        names = [f"{model.response.name} ~ {name}" for name in model.names]
        factors = np.array([self._factor(context, model, name) for name in names])
        size = float(np.sqrt(1 + self.spread + self.spread**2 / 3))
        square = self._factor(context, model, f"{model.response.name} squares")
        return model.with_(
            noise=factors * largest,
            noise_scale=size * largest,
            square_noise=square * _largest_square(model, float(largest[0])),
        )

    def _pairs(self, model: Model, context: Context) -> Model:
        exact = np.eye(len(model.terms))
        exact[1:, 1:] = correlations(model)
        largest = model.view.pairs(model.terms, exact, weighted=model.weighted)[1:, 1:]
        names, noise = model.names[1:], np.zeros_like(largest)
        for i, first in enumerate(names):
            for j, second in enumerate(names[: i + 1]):
                pair = " ".join(sorted((first, second)))
                noise[i, j] = noise[j, i] = self._factor(context, model, f"pair {pair}")
        return model.with_(pair_noise=noise * largest)

    def _factor(self, context: Context, model: Model, purpose: str) -> float:
        """Return a number of at least 1 in size that sticks to the units and the purpose."""
        keys = np.array([model.found.keys])
        first, second = context.sticky.numbers(f"score {purpose}", keys, model.found.units)[0]
        return float((1 + self.spread * first / _MODULUS) * (1 if second % 2 else -1))


def _largest_square(model: Model, residual: float) -> float:
    """Return about the largest part of a unit in the sum of squares, or in the deviance.

    A logistic unit of probability 0.1 adds 4.6 to the deviance, hence the 5.
    """
    weight = model.found.weight / max(model.found.n, 1)
    if model.link == "logit":
        return 5.0 * weight
    if model.link == "log":
        return float(2 * residual * np.log1p(residual / weight / model.mean))
    return residual**2 / weight
