r"""Protected tables, as arrays: what an intruder still knows of their cells.

Intervals come from an audit of the table, probabilities from Bayes' rule or from a simulation.
"""

from __future__ import annotations

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.core.table_measures import Numbers, entropies, table_pair


def error_risk(original: Numbers, released: Numbers) -> float:
    r"""Return the risk of a table whose cells were changed: little, where they changed much.

    Notes
    -----
    Eq. (9) of [matias2013]_, with the sample variance over all cells:

    .. math:: \frac{100}{V(T' - T)}.

    Infinite where no cell changed, and where all changed by the same amount, which one known cell
    gives away. It has the inverse unit of squared cells: it compares releases of one table only.

    Examples
    --------
    >>> error_risk([[1, 2], [3, 4]], [[1, 2], [3, 4]])
    inf
    >>> error_risk([[1, 2], [3, 4]], [[2, 1], [4, 3]])
    75.0
    """
    before, after = table_pair(original, released, "rows")
    if before.size < 2:
        raise DataError("a variance needs at least two cells", got=f"{before.size}")
    variance = float(np.var(after - before, ddof=1))
    return 100.0 / variance if variance > 0 else float("inf")  # Eq. (9) of matias2013


def interval_risk(values: Numbers, low: Numbers, high: Numbers, *, distance: float) -> np.ndarray:
    r"""Return how much each interval that an intruder can work out lacks of the width wanted.

    Parameters
    ----------
    values
        True values of the cells.
    low, high
        Least and largest value that an intruder must think possible.
    distance
        Distance to either side of the value that is wanted, as a share of it.

    Returns
    -------
    For each cell a number from 0 (wide enough on both sides) to 1 (a side is closed): the intruder
    comes closer than wanted on the narrower side.

    Notes
    -----
    With :math:`x` the value and :math:`[l, u]` the interval,

    .. math:: 1 - \min\left(1, \frac{\min(x - l, u - x)}{d |x|}\right).

    Examples
    --------
    >>> interval_risk([100, 100, 100], [90, 95, 100], [110, 130, 100], distance=0.1).tolist()
    [0.0, 0.5, 1.0]
    """
    x, lower, upper = np.broadcast_arrays(
        *(np.asarray(v, dtype=float) for v in (values, low, high))
    )
    if not distance > 0:
        raise ParameterError("the wanted distance is a share above 0", got=distance)
    if np.isnan(x).any() or np.isnan(lower).any() or np.isnan(upper).any():
        raise DataError("intervals need numbers", got="missing values")
    if np.any((lower > x) | (x > upper)):
        worst = int(np.flatnonzero(((lower > x) | (x > upper)).ravel())[0])
        raise DataError("an interval must hold the true value", got=f"cell {worst}")
    nearest = np.minimum(x - lower, upper - x)
    wanted = distance * np.abs(x)
    reached = np.divide(nearest, wanted, out=np.where(nearest > 0, 1.0, 0.0), where=wanted > 0)
    return np.asarray(1.0 - np.minimum(reached, 1.0))


def posterior(prior: Numbers, transition: Numbers, released: Numbers) -> np.ndarray:
    r"""Return what an intruder thinks of the true values, seeing the released ones.

    Parameters
    ----------
    prior
        Probability of each true value before the release, such as the frequencies of counts.
    transition
        Chance that a true value (rows) is released as each value (columns).
    released
        Column of the value released for each cell.

    Returns
    -------
    Probability of each true value (columns) for each cell (rows), by Bayes' rule.

    Examples
    --------
    >>> posterior([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], [0]).tolist()
    [[0.75, 0.25]]
    """
    before = np.asarray(prior, dtype=float)
    chances = np.asarray(transition, dtype=float)
    seen = np.asarray(released)
    if chances.ndim != 2 or before.shape != (chances.shape[0],):
        raise ParameterError(
            "a transition matrix has one row for each value of the prior",
            got=f"{before.size} values, a matrix of {' by '.join(map(str, chances.shape))}",
        )
    _check_probabilities(before[None], "the prior")
    _check_probabilities(chances, "each row of the transition matrix")
    joint = (before[:, None] * chances)[:, seen].T
    total = joint.sum(axis=1, keepdims=True)
    if np.any(total == 0):
        raise DataError("a released value has no true value that could have become it")
    return np.asarray(joint / total)


def conditional_entropy(posterior: Numbers) -> np.ndarray:
    r"""Return how uncertain an intruder is about each cell, in bits.

    Parameters
    ----------
    posterior
        Probability of each possible value (columns) for each cell (rows), given the release.

    Notes
    -----
    .. math:: H(X \mid Y = y) = -\sum_x P(x \mid y) \log_2 P(x \mid y),

    0 where the value is certain [oganian2003]_.

    Examples
    --------
    >>> conditional_entropy([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]).tolist()
    [0.0, 2.0]
    """
    p = np.atleast_2d(np.asarray(posterior, dtype=float))
    _check_probabilities(p, "the probabilities of a cell")
    return np.asarray(entropies(p) / np.log(2))


def interval_entropy(low: Numbers, high: Numbers, *, step: float = 1.0) -> np.ndarray:
    r"""Return how uncertain an intruder is who knows an interval only, in bits.

    All multiples of `step` in the interval are taken to be equally likely: with :math:`m` of them
    the entropy is :math:`\log_2 m`. It is the largest that an interval allows.

    Examples
    --------
    >>> interval_entropy([0, 5], [7, 5]).tolist()
    [3.0, 0.0]
    """
    lower, upper = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    if not step > 0:
        raise ParameterError("the step between possible values is above 0", got=step)
    if np.any(np.isnan(lower) | np.isnan(upper) | (lower > upper)):
        raise DataError("an interval needs a low end that is not above its high end")
    n_values = np.floor(upper / step + 1e-9) - np.ceil(lower / step - 1e-9) + 1
    return np.asarray(np.log2(np.maximum(n_values, 1)))


def entropy_risk(entropy: Numbers) -> np.ndarray:
    r"""Return the posterior disclosure risk of cells from what remains uncertain about them.

    Notes
    -----
    :math:`1 / H(X \mid Y = y)`, the reciprocal of the conditional entropy [oganian2003]_; infinite
    for a cell whose value is certain.

    Examples
    --------
    >>> entropy_risk([0.0, 0.5, 2.0]).tolist()
    [inf, 2.0, 0.5]
    """
    bits = np.asarray(entropy, dtype=float)
    if np.any(np.isnan(bits) | (bits < 0)):
        raise DataError("entropy is a number, 0 or above")
    return np.asarray(np.divide(1.0, bits, out=np.full(bits.shape, np.inf), where=bits > 0))


def _check_probabilities(rows: np.ndarray, what: str) -> None:
    if rows.ndim != 2 or np.any(np.isnan(rows) | (rows < 0)):
        raise ParameterError(f"{what} must be numbers of 0 or above, in rows")
    if not np.allclose(rows.sum(axis=1), 1.0, atol=1e-6):
        raise ParameterError(f"{what} must sum to 1")
