"""Logistic regression for two classes or more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError
from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

_MOST_FITTED = 100_000
_BLOCK = 100_000
_PENALTY = 1.0
"""A weak penalty keeps coefficients finite where a class is separated."""


@dataclass(frozen=True)
class Polytomous:
    """Coefficients for each class that occurs."""

    classes: np.ndarray
    beta: np.ndarray
    """Classes by columns of the matrix."""

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw a class with the probabilities of the model."""
        drawn = np.empty(new.n, dtype=np.int64)
        for start in range(0, new.n, _BLOCK):
            rows = slice(start, min(start + _BLOCK, new.n))
            scores = new.matrix[rows] @ self.beta.T
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            steps = np.cumsum(chances, axis=1)
            at = rng.random(len(steps)) * steps[:, -1]
            drawn[rows] = np.sum(steps < at[:, None], axis=1)
        return np.asarray(self.classes[np.minimum(drawn, len(self.classes) - 1)])


def fit_polytomous(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Polytomous:
    """Fit by penalised maximum likelihood."""
    classes = np.unique(target.values)
    x = seen.matrix
    if len(classes) == 1:
        return Polytomous(classes, np.zeros((1, x.shape[1])))
    rows = np.arange(target.n)
    if target.n > _MOST_FITTED:
        rows = rng.choice(target.n, _MOST_FITTED, replace=False)
        classes = np.unique(target.values[rows])
    return Polytomous(classes, _coefficients(x[rows], target.values[rows]))


def _coefficients(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    import warnings

    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / _PENALTY, fit_intercept=False, max_iter=300, tol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not quite converged is no harm to a draw
        model.fit(x, classes)
    beta = np.asarray(model.coef_)
    return np.vstack([np.zeros(beta.shape[1]), beta[0]]) if len(beta) == 1 else beta


def fit_logistic(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Polytomous:
    """Fit two classes, missing values counted as one."""
    n_present = len(np.unique(target.values))
    if n_present > 2:
        raise DataError(
            "logistic regression draws from two classes",
            got=f"{n_present}, a missing value counted as one",
            do="use polytomous",
        )
    return fit_polytomous(target, seen, settings, rng)
