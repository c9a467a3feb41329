"""Discrepancy between two matrices, measured in the three ways of DF07."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Discrepancy:
    """How far the components of a matrix moved; NaN where there is nothing to compare."""

    mean_square_error: float
    mean_absolute_error: float
    mean_variation: float
    components: int
    """Components that both matrices have."""
    zeros: int
    """Components left out of the mean variation because the original one is zero."""

    @classmethod
    def between(
        cls,
        original: np.ndarray,
        release: np.ndarray,
        *,
        weights: np.ndarray | float = 1.0,
        zero: np.ndarray | float = 0.0,
    ) -> Discrepancy:
        """Compare two arrays of the same shape.

        `weights` say how much each component counts; an original component of at most `zero` in
        absolute value has no relative change.
        """
        is_there = ~(np.isnan(original) | np.isnan(release))
        count = np.broadcast_to(weights, original.shape)[is_there]
        size = np.abs(original[is_there])
        change = np.abs(release[is_there] - original[is_there])
        is_zero = size <= np.broadcast_to(zero, original.shape)[is_there]
        return cls(
            _mean(change**2, count),
            _mean(change, count),
            _mean(change[~is_zero] / size[~is_zero], count[~is_zero]),
            int(is_there.sum()),
            int(is_zero.sum()),
        )


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    total = weights.sum()
    return float(weights @ values / total) if total > 0 else float("nan")
