"""The range of a variance over a polytope, or over a product of polytopes."""

from __future__ import annotations

import numpy as np

_ROUNDING = 1e-10


def variance_bounds(vertices: np.ndarray, strata: np.ndarray) -> tuple[float, float]:
    """Return bounds of the variance (divisor n) over all mixtures of the columns.

    Within one stratum the variance is the quadratic form of the columns' covariance matrix: largest
    at a column, smallest where a convex programme says. Over several strata the spread within and
    between them is bounded apart, which may give a wider interval, never a narrower one.
    """
    codes = np.unique(strata, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(float)
    shares = sizes / sizes.sum()
    centre = vertices.mean()
    moments = [_moments(vertices[codes == s] - centre) for s in range(len(sizes))]
    within = np.array([(_least(c), np.diag(c).max()) for _, c in moments])
    means = np.array([(m.min(), m.max()) for m, _ in moments])
    low = float(shares @ within[:, 0]) + _least_between(means, shares)
    high = float(shares @ within[:, 1]) + _most_between(means, shares)
    room = _ROUNDING * high
    return max(0.0, low - room), high + room


def _moments(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    means = block.mean(axis=0)
    centred = block - means
    return means, centred.T @ centred / len(block)


def _least(covariance: np.ndarray) -> float:
    """Return a lower bound of m'Cm over the simplex that misses the minimum by rounding only.

    The minimum is that of a least-squares problem with weights not below 0 (its solution scaled
    to sum 1). The bound is the tangent plane there, which lies under a convex function whether the
    solver was exact or not.
    """
    from scipy.optimize import nnls

    largest = float(np.diag(covariance).max())
    if largest <= 0:
        return 0.0
    values, vectors = np.linalg.eigh(covariance / largest)
    root = np.sqrt(np.clip(values, 0, None))[:, None] * vectors.T
    k = len(covariance)
    mixture = nnls(np.vstack([root, np.ones(k)]), np.r_[np.zeros(k), 1.0])[0]
    mixture /= mixture.sum()
    gradient = covariance @ mixture
    return max(0.0, float(2 * gradient.min() - mixture @ gradient))


def _most_between(means: np.ndarray, shares: np.ndarray) -> float:
    """Bound the variance of stratum means from above: squares about any point are larger."""
    if len(means) == 1:
        return 0.0
    point = float(shares @ means.mean(axis=1))
    return float(shares @ np.square(means - point).max(axis=1))


def _least_between(means: np.ndarray, shares: np.ndarray) -> float:
    """Bound it from below: the least weighted square distance of a point from the intervals."""
    if len(means) == 1:
        return 0.0

    def slope(point: float) -> float:
        return float(shares @ (point - np.clip(point, means[:, 0], means[:, 1])))

    left, right = float(means.min()), float(means.max())
    for _ in range(200):
        middle = (left + right) / 2
        left, right = (middle, right) if slope(middle) < 0 else (left, middle)
    distance = (left + right) / 2 - np.clip((left + right) / 2, means[:, 0], means[:, 1])
    return float(shares @ np.square(distance))
