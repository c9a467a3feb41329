"""How camouflage vectors are drawn around a confidential vector."""

from __future__ import annotations

import numpy as np

from tacit.core.errors import ProtectionError

_TRIES = 30
LEAST_WEIGHT = 0.08
"""Least weight of a vertex, so that the truth is well inside."""


def skewed_weights(k: int, rng: np.random.Generator) -> np.ndarray:
    """Return secret positive weights that are far from equal.

    Equal weights would put the truth at the centre, which anybody can compute; a weight near 1
    would put it at a vertex.
    """
    least = min(LEAST_WEIGHT, 0.4 / k)
    for _ in range(1000):
        weights = least + (1 - k * least) * rng.dirichlet(np.full(k, 0.8))
        if weights.max() <= 0.62 and weights.max() >= 1.5 / k:
            return np.asarray(weights)
    raise ProtectionError("no skewed weights were found", got=f"{k} camouflage vectors")


def vectors_around(
    values: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
    *,
    relative: float,
    minimum: float,
    slack: float,
    bounds: tuple[float, float],
) -> np.ndarray:
    """Return made-up vectors, units by vectors, whose weighted mean is the values.

    Each unit has its own lowest and highest vector, drawn at random. Its width is made from the
    end nearer to zero, not from the value: to whoever sees the vectors, widths and shapes then say
    nothing about the weights, while a width proportional to the value gives them away.
    Units near a bound are drawn again until they keep to it.
    """
    made = _draw(values, weights, rng, relative, minimum, slack)
    for _ in range(_TRIES):
        wrong = np.flatnonzero((made.min(axis=1) < bounds[0]) | (made.max(axis=1) > bounds[1]))
        if not len(wrong):
            return made
        made[wrong] = _draw(values[wrong], weights, rng, relative, minimum, slack)
    raise ProtectionError(
        "some values lie too near to a known bound to be camouflaged",
        got=f"{len(wrong)} of {len(values)} values",
        do="lower the protection, leave the bounds off, or set known zeros aside",
    )


def _draw(
    values: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
    relative: float,
    minimum: float,
    slack: float,
) -> np.ndarray:
    """Place the vectors at ``near + width * heights`` away from zero, heights from 0 to 1.

    With t the height of the truth, the end n nearer to zero solves n + e max(c n, minimum) t = a,
    and c = relative / (1 - relative) makes the width at least ``relative`` times a.
    """
    n, k = len(values), len(weights)
    heights = rng.permuted(np.tile(np.r_[0.0, 1.0, np.full(k - 2, np.nan)], (n, 1)), axis=1)
    heights = np.where(np.isnan(heights), rng.random((n, k)), heights)
    truth_at = heights @ weights
    factor = 1 + slack * rng.exponential(size=n)
    share = relative / (1 - relative)
    sizes = np.abs(values)
    near = sizes / (1 + share * factor * truth_at)
    is_small = share * near < minimum
    near = np.where(is_small, sizes - factor * minimum * truth_at, near)
    widths = factor * np.where(is_small, minimum, share * near)
    away = np.where(values < 0, -1.0, 1.0)
    return np.asarray(away[:, None] * (near[:, None] + widths[:, None] * heights))
