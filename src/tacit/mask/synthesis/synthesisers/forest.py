"""Forests: each value is drawn from a leaf of one of several trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers import cart
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target, shared_numbers


@dataclass(frozen=True)
class Forest:
    """Trees grown on samples of the records."""

    trees: tuple[cart.Tree, ...]

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw each value from a tree chosen at random."""
        chosen = rng.integers(0, len(self.trees), new.n)
        drawn = np.empty(new.n)
        for number, tree in enumerate(self.trees):
            rows = np.flatnonzero(chosen == number)
            if len(rows):
                drawn[rows] = tree.draw(new.take(rows), bounds.take(rows), rng)
        return drawn


def fit_bagging(target: Target, seen: View, settings: Settings, rng: np.random.Generator) -> Forest:
    """Grow trees on bootstrap samples; every node tries all predictors."""
    return _fitted(target, seen, settings, rng, len(seen.codings))


def fit_forest(target: Target, seen: View, settings: Settings, rng: np.random.Generator) -> Forest:
    """Grow trees on bootstrap samples; every node tries some predictors only."""
    p = len(seen.codings)
    n_tried = int(np.ceil(np.sqrt(p))) if target.n_classes else max(1, p // 3)
    return _fitted(target, seen, settings, rng, max(n_tried, min(p, 1)))


def _fitted(
    target: Target, seen: View, settings: Settings, rng: np.random.Generator, n_tried: int
) -> Forest:
    shared = target.shared
    if shared is None and not target.n_classes:
        shared = shared_numbers(target.values, settings.common)
    trees = []
    for _ in range(settings.trees):
        rows = rng.integers(0, target.n, target.n)
        part = Target(target.values[rows], target.n_classes, shared)
        trees.append(cart.fit(part, seen.take(rows), settings, rng, n_tried=n_tried))
    return Forest(tuple(trees))
