"""Transition matrices: made, checked, applied and undone in expectation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.core.errors import DataError, ParameterError, nearest


def random_matrix(n: int, stay: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random matrix whose diagonal lies between `stay` and 1; the rest is shared out."""
    if n == 1:
        return np.ones((1, 1))
    diagonal = rng.uniform(stay, 1.0, n)
    matrix = rng.dirichlet(np.ones(n - 1), n) * (1.0 - diagonal)[:, None]
    full = np.zeros((n, n))
    full[~np.eye(n, dtype=bool)] = matrix.ravel()
    np.fill_diagonal(full, diagonal)
    return full


def invariant_matrix(matrix: np.ndarray, counts: np.ndarray, stay: float) -> np.ndarray:
    """Return a matrix that keeps expected counts, near the given one, with diagonal >= `stay`.

    R = P Q, with Q the chance of each original category given the released one, keeps the counts
    (kooiman1997). Mixing R with the identity keeps that, and raises the diagonal.
    """
    after = counts @ matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        posterior = np.where(after > 0, matrix * counts[:, None] / after, 0.0).T
    twice = matrix @ posterior
    lowest = float(np.diag(twice).min())
    share = 0.0 if lowest >= stay or lowest >= 1.0 else (stay - lowest) / (1.0 - lowest)
    return np.asarray(share * np.eye(len(counts)) + (1.0 - share) * twice)


def checked_matrix(given: Mapping[str, Mapping[str, float]], labels: list[str]) -> np.ndarray:
    """Return a matrix given by hand in the order of the labels, or say what is wrong with it."""
    matrix = np.zeros((len(labels), len(labels)))
    place = {label: i for i, label in enumerate(labels)}
    for label in labels:
        row = given.get(label)
        if row is None:
            raise DataError(f"the matrix has no row for the category {label!r}", do="add one")
        for target, probability in row.items():
            if target not in place:
                raise DataError(
                    f"the matrix leads to {target!r}, which does not occur",
                    do=nearest(target, labels),
                )
            matrix[place[label], place[target]] = probability
    sums = matrix.sum(axis=1)
    if (matrix < 0).any() or not np.allclose(sums, 1.0, atol=1e-6):
        worst = labels[int(np.argmax(np.abs(sums - 1.0)))]
        raise ParameterError(
            "parameter 'matrix' should hold probabilities that sum to 1 in each row",
            got=f"{sums[place[worst]]:g} in the row {worst!r}",
        )
    return np.asarray(matrix / sums[:, None])


def transitions(codes: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a new code for each record."""
    from tacit.mask import _transitions_kernel as kernel

    draws = rng.random(len(codes))
    cumulative = np.cumsum(matrix, axis=1)
    cumulative[:, -1] = 1.0
    stacked = (cumulative + np.arange(len(matrix))[:, None]).ravel()
    return np.asarray(kernel.drawn(codes, draws, stacked, len(matrix)))


def corrected_counts(released: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    r"""Estimate original counts from released ones and the transition matrix.

    Parameters
    ----------
    released
        Counts of the categories in the release.
    matrix
        Transition probabilities, from original (rows) to released (columns).

    Notes
    -----
    :math:`\hat T = (P^{-1})^\top T^*`, unbiased [kooiman1997]_; single estimates can be negative.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> [round(float(t), 6) for t in corrected_counts(np.array([110.0, 90.0]), P)]
    [100.0, 100.0]
    """
    try:
        return np.asarray(np.linalg.solve(np.asarray(matrix).T, np.asarray(released, dtype=float)))
    except np.linalg.LinAlgError as error:
        raise DataError("the matrix cannot be undone: its rows are not independent") from error
