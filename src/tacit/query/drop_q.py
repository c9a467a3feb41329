"""How well dropping q records protects against the difference of two tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import factorial

import numpy as np

from tacit.core.errors import ParameterError


def drop_q_disclosure(shares: Sequence[float], k: int) -> float:
    r"""Return the probability that the difference of two tables shows the one unit they differ by.

    Both tables have q records dropped at random, q uniform on 2 to k, each on its own.

    Parameters
    ----------
    shares
        Share of the population in each cell of the table.
    k
        Largest number of records dropped.

    Notes
    -----
    Eq. (5) of [lucero2011]_,

    .. math:: \xi = \frac{1}{(k-1)^2} \sum_{q=2}^k \sum_{x_1+\dots+x_J=q}
       \Bigl(\frac{q!}{x_1! \cdots x_J!}\Bigr)^2 \prod_j \Pi_j^{2x_j},

    summed as the coefficients of :math:`\prod_j \sum_x (\Pi_j^2 t)^x / (x!)^2`, so that a table of
    thousands of cells costs no more than a few. It counts only differences of one 1 and zeros; an
    intruder who weighs likelihoods does better, and padding or asking for variants of the universe
    defeats the rule (`likely_cells`).

    Examples
    --------
    >>> round(drop_q_disclosure([0.25] * 4, k=5), 6)
    0.01521
    """
    given = _shares(shares)
    _check_k(k)
    series = np.zeros(k + 1)
    series[0] = 1.0
    inverse = 1.0 / np.array([float(factorial(x)) ** 2 for x in range(k + 1)])
    for share in given:
        factor = (share**2) ** np.arange(k + 1) * inverse
        series = np.convolve(series, factor)[: k + 1]
    chosen = [float(factorial(q)) ** 2 * series[q] for q in range(2, k + 1)]
    return float(sum(chosen) / (k - 1) ** 2)


def drop_q_bounds(n_cells: int, k: int) -> tuple[float, float]:
    """Return the least and largest disclosure probability over all tables of so many cells.

    Eq. (6) of [lucero2011]_: equal cells are best, a single occupied cell is worst.

    Examples
    --------
    >>> drop_q_bounds(4, 5)[1]
    0.25
    """
    if n_cells < 1:
        raise ParameterError("a table has at least one cell", got=n_cells)
    _check_k(k)
    return drop_q_disclosure([1.0 / n_cells] * n_cells, k), 1.0 / (k - 1)


def simulate_differencing(
    counts: Sequence[int], k: int, runs: int, rng: np.random.Generator
) -> dict[str, float]:
    """Attack a table many times by asking for it with and without one unit.

    The target lies in the first cell. Returns the rate of correct and of apparent disclosures (a
    single 1 among zeros, in the right cell or in any), and how often a likelihood attacker names
    the right cell.
    """
    before = np.asarray(counts, dtype=np.int64)
    if before.ndim != 1 or before[0] < 1 or before.sum() <= k + 1:
        raise ParameterError(
            "the table must hold more units than are dropped, the target in its first cell",
            got=f"{before.sum()} units, k = {k}",
        )
    _check_k(k)
    after = before.copy()
    after[0] -= 1
    differences = _dropped(before, k, runs, rng) - _dropped(after, k, runs, rng)
    single = (np.abs(differences).sum(axis=1) == 1) & (differences.max(axis=1) == 1)
    guess = likely_cells(differences[None], before / before.sum(), k)
    return {
        "correct": float((single & (differences[:, 0] == 1)).mean()),
        "apparent": float(single.mean()),
        "by_likelihood": float((guess == 0).mean()),
    }


def likely_cells(differences: np.ndarray, shares: np.ndarray, k: int) -> np.ndarray:
    """Return the cell in which the one unit most likely lies, from several differences.

    Parameters
    ----------
    differences
        Differences of the two tables: variants of the universe by runs by cells.
    shares
        Share of the population in each cell.
    k
        Largest number of records dropped.

    Notes
    -----
    The change of each cell but the target's is the difference of two nearly independent counts of
    dropped records; cells are taken as independent binomials given q, which loses little. Adding
    the log-likelihoods of variants of the universe is the re-seeding attack.
    """
    score = np.zeros(differences.shape[1:])
    for cell, share in enumerate(shares):
        other, target = _change_probabilities(float(share), k)
        seen = np.clip(differences[:, :, cell], -k, k + 1) + k
        score[:, cell] = (np.log(target[seen]) - np.log(other[seen])).sum(axis=0)
    ties = np.random.default_rng(0).random(score.shape) * 1e-9
    return np.asarray(np.argmax(score + ties, axis=1))


@lru_cache(maxsize=4096)
def _change_probabilities(share: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely each change of a cell from -k to k + 1 is, without and with the target."""
    from scipy.stats import binom

    q = np.arange(2, k + 1)
    dropped = binom.pmf(np.arange(k + 1)[:, None], q[None, :], share).mean(axis=1)
    difference = np.convolve(dropped, dropped[::-1])
    other = np.zeros(2 * k + 2)
    other[: 2 * k + 1] = difference
    target = np.zeros(2 * k + 2)
    target[1:] = difference
    return np.maximum(other, 1e-12), np.maximum(target, 1e-12)


def _dropped(counts: np.ndarray, k: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the table with q units dropped at random, many times."""
    q = rng.integers(2, k + 1, runs)
    lost = np.zeros((runs, len(counts)), dtype=np.int64)
    for size in range(2, k + 1):
        chosen = q == size
        lost[chosen] = rng.multivariate_hypergeometric(
            counts, size, int(chosen.sum()), method="marginals"
        )
    return counts - lost


def _shares(shares: Sequence[float]) -> np.ndarray:
    given = np.asarray(shares, dtype=float)
    if given.ndim != 1 or not len(given) or np.any(given < 0) or not np.isclose(given.sum(), 1.0):
        raise ParameterError("shares of cells are not negative and add up to 1", got=list(given))
    return given


def _check_k(k: int) -> None:
    if not 2 <= k <= 150:
        raise ParameterError("the largest number dropped must be from 2 to 150", got=k)
