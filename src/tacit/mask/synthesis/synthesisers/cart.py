"""Trees: a value is drawn from the records of the leaf that a new record falls into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target, is_shared

_DEEPEST = 60
_SMALLEST_GAIN = 1e-8
"""Share of the variance below which a node counts as constant."""


@dataclass(frozen=True)
class Tree:
    """A tree with the target's values leaf by leaf."""

    nodes: tuple[np.ndarray, ...]
    first: np.ndarray
    last: np.ndarray
    values: np.ndarray
    """Values leaf by leaf, rising inside a leaf where they are numbers."""
    shared: np.ndarray | None
    """Which numbers many records have; None for classes."""
    smooth: bool

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw a value from the leaf of each record."""
        from tacit.mask.synthesis import _leaf_kernel as kernel

        leaf = kernel.leaf_of(new.codes, new.is_nominal, *self.nodes)
        uniform = rng.random(new.n)
        if self.shared is None:
            first, last = self.first[leaf], self.last[leaf]
            return np.asarray(self.values[first + (uniform * (last - first)).astype(np.int64)])
        step = rng.uniform(-1.0, 1.0, new.n)
        return np.asarray(
            kernel.draw_numbers(
                leaf, self.first, self.last, self.values, self.shared, bounds.low, bounds.high,
                uniform, step, self.smooth,
            )
        )  # fmt: skip


def fit(
    target: Target,
    seen: View,
    settings: Settings,
    rng: np.random.Generator,
    *,
    n_tried: int | None = None,
    split_on: np.ndarray | None = None,
) -> Tree:
    """Grow a tree.

    Parameters
    ----------
    target
        Values to draw from.
    seen
        Predictors of the same records.
    settings
        Smallest leaf, smoothing.
    rng
        Used to choose the predictors tried at each node.
    n_tried
        Predictors tried at each node; all by default.
    split_on
        Numbers that cuts are chosen by, if not the target itself.
    """
    from tacit.mask.synthesis import _leaf_kernel as kernel

    n_tried = len(seen.codings) if n_tried is None else min(n_tried, len(seen.codings))
    *nodes, first, last, order = _grown(target, seen, settings, n_tried, split_on, rng)
    if target.n_classes:
        values = target.values[order]
        return Tree(tuple(nodes), first, last, values, None, settings.smooth)
    values = kernel.sort_leaves(nodes[0], first, last, order, target.values)
    shared = is_shared(values, target, settings.common)
    return Tree(tuple(nodes), first, last, values, shared, settings.smooth)


def _grown(
    target: Target,
    seen: View,
    settings: Settings,
    n_tried: int,
    split_on: np.ndarray | None,
    rng: np.random.Generator,
) -> list[Any]:
    from tacit.mask.synthesis import _cart_kernel as kernel

    classes, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    n_classes = target.n_classes if split_on is None else 0
    if n_classes:
        classes = target.values.astype(np.int64)
        spread = 1.0
    else:
        numbers = target.values if split_on is None else split_on
        numbers = numbers - numbers.mean()
        spread = float(np.mean(numbers**2))
    predictor, cut, child, first, last, offset, sets, order = kernel.grow(
        seen.codes, seen.is_nominal, seen.n_codes, numbers, classes, n_classes, settings.leaf,
        _DEEPEST, n_tried, int(rng.integers(2**62)), _SMALLEST_GAIN * spread, settings.evidence,
    )  # fmt: skip
    return [predictor, cut, child, offset, sets, first, last, order]
