"""Poisson regression for counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError
from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

_LARGEST_LOG = 30.0


@dataclass(frozen=True)
class Poisson:
    """Coefficients of the logarithm of the mean."""

    beta: np.ndarray

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw counts; those outside the bounds move to the border."""
        mean = np.exp(np.clip(new.matrix @ self.beta, -_LARGEST_LOG, _LARGEST_LOG))
        return np.asarray(np.clip(rng.poisson(mean).astype(np.float64), bounds.low, bounds.high))


def fit_poisson(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Poisson:
    """Fit by maximum likelihood."""
    from sklearn.linear_model import PoissonRegressor

    counts = target.values
    if np.any(counts < 0) or np.any(counts != np.rint(counts)):
        raise DataError("Poisson regression needs counts: whole numbers, 0 or above")
    if counts.max() == 0:
        return Poisson(np.r_[-_LARGEST_LOG, np.zeros(seen.matrix.shape[1] - 1)])
    model = PoissonRegressor(alpha=1e-6, fit_intercept=True, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not quite converged is no harm to a draw
        model.fit(seen.matrix[:, 1:], counts) if seen.matrix.shape[1] > 1 else None
    if seen.matrix.shape[1] == 1:
        return Poisson(np.array([np.log(counts.mean())]))
    return Poisson(np.r_[model.intercept_, model.coef_])
