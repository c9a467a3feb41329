"""Means, second moments and normal draws that noise methods share."""

from __future__ import annotations

import numpy as np


def means_and_covariance(
    values: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (weighted) means and the covariance matrix of complete data, with divisor n."""
    from tacit.mask import _moments_kernel as kernel

    shares = np.ones(len(values)) if weights is None else weights
    mean, covariance = kernel.centred_moments(np.ascontiguousarray(values), shares)
    return mean, covariance


def moments(values: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the (weighted) means and raw second moments E[X_i X_j] of complete data."""
    mean, covariance = means_and_covariance(values, weights)
    return mean, covariance + np.outer(mean, mean)


def normal_draws(covariance: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a normal distribution with mean zero whose covariance may be singular.

    Negative eigenvalues, which a matrix of logarithms can have, are taken as zero.
    """
    from tacit.mask import _moments_kernel as kernel

    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))
    draws = rng.standard_normal((n, len(covariance)))
    kernel.mix_columns(draws, root)
    return draws
