"""Means, second moments and normal draws that noise methods share."""

from __future__ import annotations

import numpy as np


def moments(values: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the (weighted) means and raw second moments E[X_i X_j] of complete data."""
    if weights is None:
        return values.mean(axis=0), values.T @ values / len(values)
    shares = weights / weights.sum()
    return shares @ values, (values.T * shares) @ values


def covariance(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) covariance matrix of complete data, with divisor n."""
    mean = values.mean(axis=0) if weights is None else weights @ values / weights.sum()
    return moments(values - mean, weights)[1]


def normal_draws(
    mean: np.ndarray, covariance: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw from a normal distribution whose covariance may be singular.

    Negative eigenvalues, which a matrix of logarithms can have, are taken as zero.
    """
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))
    return np.asarray(mean + rng.standard_normal((n, len(mean))) @ root.T)
