"""Draws from the variable alone: from its values, or from a kernel density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers import cart
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target


@dataclass(frozen=True)
class Sample:
    """One leaf that holds all records."""

    leaf: cart.Tree

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw from all values, whatever the predictors say."""
        return self.leaf.draw(new.without_predictors(), bounds, rng)


def fit_sample(target: Target, seen: View, settings: Settings, rng: np.random.Generator) -> Sample:
    """Keep the values."""
    return Sample(cart.fit(target, seen.without_predictors(), settings, rng))


@dataclass(frozen=True)
class Density:
    """A Gaussian kernel density, reflected at the smallest and largest value."""

    values: np.ndarray
    width: float

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw from the density; values outside the bounds of a record move to the border."""
        centre = self.values[rng.integers(0, len(self.values), new.n)]
        drawn = centre + self.width * rng.standard_normal(new.n)
        low, high = self.values.min(), self.values.max()
        drawn = np.where(drawn < low, 2 * low - drawn, drawn)
        drawn = np.where(drawn > high, 2 * high - drawn, drawn)
        return np.clip(np.clip(drawn, low, high), bounds.low, bounds.high)


def fit_density(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator
) -> Density:
    """Choose the width by Silverman's rule of thumb."""
    values = target.values
    quarters = np.quantile(values, [0.25, 0.75])
    spreads = [s for s in (values.std(), (quarters[1] - quarters[0]) / 1.34) if s > 0]
    return Density(values, 0.9 * min(spreads, default=0.0) * len(values) ** -0.2)
