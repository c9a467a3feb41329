# mypy: ignore-errors
"""Moments and mixtures of a few columns in one pass over the records.

Products of a long thin matrix with a small one are too little work for the threads of a linear
algebra library, which spend more time waiting for each other than they save.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def centred_moments(values, weights):
    """Return the weighted means and covariances (divisor: all weight) of complete records."""
    n, p = values.shape
    mean, total = np.zeros(p), 0.0
    for i in range(n):
        total += weights[i]
        for j in range(p):
            mean[j] += weights[i] * values[i, j]
    mean /= total
    sums, products, d = np.zeros(p), np.zeros((p, p)), np.empty(p)
    for i in range(n):
        for j in range(p):
            d[j] = values[i, j] - mean[j]
        for j in range(p):
            scaled = weights[i] * d[j]
            sums[j] += scaled
            for m in range(j + 1):
                products[j, m] += scaled * d[m]
    # The first pass leaves a rounding error in the mean; what it did to the products is taken out.
    for j in range(p):
        for m in range(j + 1):
            products[j, m] = products[j, m] / total - sums[j] / total * (sums[m] / total)
            products[m, j] = products[j, m]
    return mean + sums / total, products


@njit(cache=True, nogil=True)
def mix_columns(draws, root):
    """Replace each record z of `draws` by ``root @ z``, in place."""
    n, p = draws.shape
    z = np.empty(p)
    for i in range(n):
        for j in range(p):
            z[j] = draws[i, j]
        for j in range(p):
            total = 0.0
            for m in range(p):
                total += root[j, m] * z[m]
            draws[i, j] = total


@njit(cache=True, nogil=True)
def add_scaled(noise, values, mean, shrink):
    """Replace noise by ``mean + shrink * (values + noise - mean)``, in place."""
    for i in range(noise.shape[0]):
        for j in range(noise.shape[1]):
            noise[i, j] = mean[j] + shrink * (values[i, j] + noise[i, j] - mean[j])


@njit(cache=True, nogil=True)
def add_products(sums, values, matrix):
    """Add ``matrix @ x`` to `sums`, in place, for each record x of `values`."""
    for i in range(values.shape[0]):
        for j in range(matrix.shape[0]):
            total = 0.0
            for m in range(matrix.shape[1]):
                total += matrix[j, m] * values[i, m]
            sums[i, j] += total
