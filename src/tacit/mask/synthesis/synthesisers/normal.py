"""Linear regression with normal errors, on the values or on their normal scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

_RIDGE = 1e-9


@dataclass(frozen=True)
class Normal:
    """Coefficients and the spread of the errors."""

    beta: np.ndarray
    sigma: float

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw from the normal distribution, cut off at the bounds."""
        from scipy.stats import norm

        mean = new.matrix @ self.beta
        uniform = rng.random(new.n)
        if self.sigma == 0.0:
            return np.asarray(np.clip(mean, bounds.low, bounds.high))
        low, high = (norm.cdf((b - mean) / self.sigma) for b in (bounds.low, bounds.high))
        drawn = mean + self.sigma * norm.ppf(
            np.clip(low + uniform * (high - low), 1e-15, 1 - 1e-15)
        )
        return np.asarray(np.clip(drawn, bounds.low, bounds.high))


def fit_normal(target: Target, seen: View, settings: Settings, rng: np.random.Generator) -> Normal:
    """Fit by least squares."""
    return _fitted(target.values, seen)


def _fitted(y: np.ndarray, seen: View) -> Normal:
    x = seen.matrix
    gram = x.T @ x
    # a hair of ridge: indicators of a category may add up to one of another
    gram[np.diag_indices_from(gram)] += _RIDGE * np.maximum(np.diag(gram), 1.0)
    beta = np.linalg.solve(gram, x.T @ y)
    left = len(y) - x.shape[1]
    sigma = float(np.sqrt(np.sum((y - x @ beta) ** 2) / left)) if left > 0 else float(np.std(y))
    return Normal(beta, sigma)


@dataclass(frozen=True)
class NormalRank:
    """A normal model of the scores, and the values that the scores stand for."""

    scores: Normal
    ordered: np.ndarray
    """The values, rising."""
    grid: np.ndarray
    """Their normal scores."""

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw scores and return the values between those that have such scores."""
        first = np.concatenate([[True], np.diff(self.ordered) > 0])
        distinct, at = self.ordered[first], self.grid[first]
        limits = Bounds(
            np.where(np.isneginf(bounds.low), -np.inf, np.interp(bounds.low, distinct, at)),
            np.where(np.isposinf(bounds.high), np.inf, np.interp(bounds.high, distinct, at)),
        )
        scores = _reflected(self.scores.draw(new, limits, rng), self.grid[0], self.grid[-1])
        values = np.interp(scores, self.grid, self.ordered)
        return np.asarray(np.clip(values, bounds.low, bounds.high))


def _reflected(scores: np.ndarray, low: float, high: float) -> np.ndarray:
    """Turn scores beyond the extremes back inside: the extreme values are people's own."""
    scores = np.where(scores > high, 2 * high - scores, scores)
    return np.clip(np.where(scores < low, 2 * low - scores, scores), low, high)


def fit_normal_rank(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> NormalRank:
    """Fit the normal scores by least squares; equal values have the mean of their ranks."""
    from scipy.stats import norm, rankdata

    ranks = rankdata(target.values)
    scores = norm.ppf(ranks / (target.n + 1))
    ordered = np.sort(target.values)
    grid = norm.ppf(np.arange(1, target.n + 1) / (target.n + 1))
    return NormalRank(_fitted(scores, seen), ordered, grid)
