"""Means, second moments and normal draws that noise methods share."""

from __future__ import annotations

import numpy as np


def means(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) means of the columns of complete data."""
    # A product of matrices, which is much faster here than a sum over the long axis.
    weights = np.ones(len(values)) if weights is None else weights
    return np.asarray(weights @ values / weights.sum())


def moments(values: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the (weighted) means and raw second moments E[X_i X_j] of complete data."""
    if weights is None:
        return means(values), values.T @ values / len(values)
    shares = weights / weights.sum()
    return shares @ values, (values.T * shares) @ values


def covariance(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) covariance matrix of complete data, with divisor n."""
    return moments(values - means(values, weights), weights)[1]


def normal_draws(
    mean: np.ndarray, covariance: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw from a normal distribution whose covariance may be singular.

    Negative eigenvalues, which a matrix of logarithms can have, are taken as zero.
    """
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))
    return np.asarray(mean + rng.standard_normal((n, len(mean))) @ root.T)
