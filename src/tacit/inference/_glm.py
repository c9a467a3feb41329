"""Generalised linear models by iteratively reweighted least squares."""

from __future__ import annotations

import numpy as np

from tacit.core.errors import DataError

_MOST_ROUNDS = 50
_CLOSE = 1e-10


def fit_glm(
    matrix: np.ndarray, y: np.ndarray, family: str, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and their variances; NaN for those that are not determined.

    Weighted variances are robust (sandwich), as sampling weights are not numbers of records.
    """
    if len(y) <= matrix.shape[1]:
        raise DataError("a regression needs more records than coefficients", got=f"{len(y)}")
    kept = _determined(matrix)
    x = matrix[:, kept]
    w = np.ones(len(y)) if weights is None else weights
    beta = _solved(x, y, family, w)
    values, variances = (np.full(matrix.shape[1], np.nan) for _ in range(2))
    values[kept] = beta
    variances[kept] = np.diag(_covariance(x, y, beta, family, w, weights is not None))
    return values, variances


def _determined(matrix: np.ndarray) -> np.ndarray:
    """Return the columns that are no combination of earlier ones."""
    scaled = matrix / np.maximum(np.sqrt((matrix**2).sum(axis=0)), 1e-300)
    diagonal = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    return np.flatnonzero(diagonal > 1e-8)


def _solved(x: np.ndarray, y: np.ndarray, family: str, w: np.ndarray) -> np.ndarray:
    if family == "gaussian":
        root = np.sqrt(w)
        return np.asarray(np.linalg.lstsq(x * root[:, None], y * root, rcond=None)[0])
    mean = np.clip((y + y.mean()) / 2, 1e-6, None if family == "poisson" else 1 - 1e-6)
    eta = np.log(mean) if family == "poisson" else np.log(mean / (1 - mean))
    beta = np.zeros(x.shape[1])
    for _ in range(_MOST_ROUNDS):
        mean, variance = _moments(eta, family)
        working = eta + (y - mean) / variance
        root = np.sqrt(w * variance)
        new = np.linalg.lstsq(x * root[:, None], working * root, rcond=None)[0]
        done = np.max(np.abs(new - beta)) <= _CLOSE * (1 + np.max(np.abs(new)))
        beta, eta = new, np.clip(x @ new, -30, 30)
        if done:
            break
    return np.asarray(beta)


def _moments(eta: np.ndarray, family: str) -> tuple[np.ndarray, np.ndarray]:
    if family == "poisson":
        mean = np.exp(eta)
        return mean, np.maximum(mean, 1e-12)
    mean = 1 / (1 + np.exp(-eta))
    return mean, np.maximum(mean * (1 - mean), 1e-12)


def _covariance(
    x: np.ndarray, y: np.ndarray, beta: np.ndarray, family: str, w: np.ndarray, robust: bool
) -> np.ndarray:
    eta = np.clip(x @ beta, -30, 30) if family != "gaussian" else x @ beta
    mean, variance = (eta, np.ones(len(y))) if family == "gaussian" else _moments(eta, family)
    bread = np.linalg.inv((x * (w * variance)[:, None]).T @ x)
    if robust:
        scores = x * (w * (y - mean))[:, None]
        return np.asarray(bread @ (scores.T @ scores) @ bread)
    if family == "gaussian":
        return np.asarray(bread * np.sum((y - mean) ** 2) / (len(y) - x.shape[1]))
    return np.asarray(bread)
