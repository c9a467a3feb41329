"""Logistic regression for two classes or more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError
from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

_MOST_FITTED = 100_000
_BLOCK = 100_000
_MOST_AT_ONCE = 40
"""More classes than these are drawn in two steps: a group of classes, then one of the group."""
_FEW_COEFFICIENTS = 100
"""As many are fitted exactly; else the fit ends before its last digits, which no draw shows."""
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


@dataclass(frozen=True)
class Nested:
    """Groups of similar classes, and the classes of each group."""

    groups: Polytomous
    within: tuple[Polytomous, ...]

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw a group, then a class of it."""
        chosen = self.groups.draw(new, bounds, rng)
        drawn = np.empty(new.n, dtype=np.int64)
        for group, model in enumerate(self.within):
            rows = np.flatnonzero(chosen == group)
            if len(rows):
                drawn[rows] = model.draw(new.take(rows), bounds.take(rows), rng)
        return drawn


def fit_polytomous(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Polytomous | Nested:
    """Fit by penalised maximum likelihood; many classes in two steps."""
    rows = np.arange(target.n)
    if target.n > _MOST_FITTED:
        rows = rng.choice(target.n, _MOST_FITTED, replace=False)
    x, y = seen.matrix[rows], target.values[rows]
    classes, number = np.unique(y, return_inverse=True)
    if len(classes) <= _MOST_AT_ONCE:
        return _fitted(x, y)
    group = _alike(x, number)[number]
    within = tuple(_fitted(x[group == g], y[group == g]) for g in range(group.max() + 1))
    return Nested(_fitted(x, group), within)


def _alike(x: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return for each class its group: classes whose predictors have similar means go together.

    Classes are ordered along the first principal axis of their means. With as many groups as a
    group has classes both steps cost the least.
    """
    sizes = np.bincount(number)
    means = np.column_stack([np.bincount(number, column) / sizes for column in x.T])
    centred = (means - np.average(means, axis=0, weights=sizes)) * np.sqrt(sizes)[:, None]
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    order = np.argsort(means @ axis, kind="stable")
    group = np.empty(len(sizes), dtype=np.int64)
    for g, members in enumerate(np.array_split(order, int(np.ceil(np.sqrt(len(sizes)))))):
        group[members] = g
    return group


def _fitted(x: np.ndarray, y: np.ndarray) -> Polytomous:
    classes = np.unique(y)
    if len(classes) == 1:
        return Polytomous(classes, np.zeros((1, x.shape[1])))
    return Polytomous(classes, _coefficients(x, y))


def _coefficients(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    import warnings

    from sklearn.linear_model import LogisticRegression

    few = x.shape[1] * len(np.unique(classes)) <= _FEW_COEFFICIENTS
    model = LogisticRegression(
        C=1 / _PENALTY, fit_intercept=False, max_iter=50, tol=1e-6 if few else 1e-3,
        solver="newton-cholesky" if few else "lbfgs",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not quite converged is no harm to a draw
        model.fit(x, classes)
    beta = np.asarray(model.coef_)
    return np.vstack([np.zeros(beta.shape[1]), beta[0]]) if len(beta) == 1 else beta


def fit_logistic(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Polytomous | Nested:
    """Fit two classes, missing values counted as one."""
    n_present = len(np.unique(target.values))
    if n_present > 2:
        raise DataError(
            "logistic regression draws from two classes",
            got=f"{n_present}, a missing value counted as one",
            do="use polytomous",
        )
    return fit_polytomous(target, seen, settings, rng)
