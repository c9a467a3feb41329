"""The statistics of DF07 that describe what a numeric file holds: means, covariances, factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ZERO = 1e-12
"""Variances and correlations below this, relative to the scale of the columns, are zero."""


@dataclass(frozen=True)
class Structure:
    """Statistics of one file; entries that are not defined are NaN."""

    means: np.ndarray
    """Mean of each column, over the records that have it."""
    covariances: np.ndarray
    """V: covariances of the columns, over complete records."""
    correlations: np.ndarray
    """R: correlations; not defined for a constant column."""
    n_complete: int
    """Complete records."""

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None) -> Structure:
        """Describe a file of records by columns, NaN being missing."""
        w = np.ones(len(values)) if weights is None else weights
        complete = ~np.isnan(values).any(axis=1)
        covariances = _covariances(values[complete], w[complete])
        return cls(_means(values, w), covariances, _correlations(covariances), int(complete.sum()))

    @property
    def known_correlations(self) -> np.ndarray:
        """Correlations, 0 for a column that is constant: what it told about others is lost."""
        known = np.where(np.isnan(self.correlations), 0.0, self.correlations)
        return known if self.n_complete > 1 else self.correlations

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviation of each column."""
        return np.sqrt(np.diag(self.covariances))


@dataclass(frozen=True)
class Factors:
    """Principal components of standardised columns."""

    scores: np.ndarray
    """F: coefficients (columns by factors) that give the projection on each factor."""
    variances: np.ndarray
    """Variance of each factor; they sum to the number of columns."""

    @property
    def loadings(self) -> np.ndarray:
        """RF: correlations of columns (rows) with factors."""
        return np.asarray(self.scores * np.sqrt(self.variances))

    @property
    def communalities(self) -> np.ndarray:
        """C: share of each column's variance that the first factor explains."""
        return np.asarray(self.loadings[:, 0] ** 2)

    @classmethod
    def of(cls, correlations: np.ndarray) -> Factors:
        """Return the factors by falling variance, the largest coefficient of each positive."""
        variances, vectors = np.linalg.eigh(correlations)
        variances, vectors = variances[::-1].clip(0.0), vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.sign(vectors[largest, np.arange(len(vectors))])
        return cls(vectors * signs, variances)

    def aligned_with(self, reference: Factors) -> Factors:
        """Reorder the factors and turn their signs so as to resemble those of the original most.

        Principal components have no sign, and close variances change places by chance.
        """
        cosines = reference.scores.T @ self.scores
        partner = _partners(np.abs(cosines))
        signs = np.where(np.diag(cosines[:, partner]) < 0, -1.0, 1.0)
        return Factors(self.scores[:, partner] * signs, self.variances[partner])


def _partners(alike: np.ndarray) -> np.ndarray:
    """Give each row a column of its own so that the sum of their likenesses is largest."""
    likest = alike.argmax(axis=1)
    if len(np.unique(likest)) == len(likest):
        return np.asarray(likest)
    from scipy.optimize import linear_sum_assignment  # takes long to import

    return np.asarray(linear_sum_assignment(-alike)[1])


def _means(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    present = ~np.isnan(values)
    total = weights @ np.where(present, values, 0.0)
    size = weights @ present
    means = np.divide(total, size, out=np.full(values.shape[1], np.nan), where=size > 0)
    return np.asarray(means)


def _covariances(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted covariances; with equal weights the divisor is n - 1."""
    n_columns = values.shape[1]
    if len(values) < 2:
        return np.full((n_columns, n_columns), np.nan)
    share = weights / weights.sum()
    centred = values - share @ values
    covariances = (centred * share[:, None]).T @ centred / (1 - np.sum(share**2))
    # Columns that are constant but for rounding have no variance.
    is_constant = np.ptp(values, axis=0) <= _ZERO * np.abs(values).max(axis=0)
    covariances[is_constant], covariances[:, is_constant] = 0.0, 0.0
    return np.asarray(covariances)


def _correlations(covariances: np.ndarray) -> np.ndarray:
    deviations = np.sqrt(np.diag(covariances))
    scale = np.outer(deviations, deviations)
    correlations = np.divide(
        covariances, scale, out=np.full(scale.shape, np.nan), where=scale > 0
    ).clip(-1.0, 1.0)
    correlations[np.abs(correlations) < _ZERO] = 0.0
    return np.asarray(correlations)
