"""Transition matrices for counts: with what probability a count becomes another.

Two designs of Giessing and Höhne: noise of mean zero and fixed variance (their section 3.1) and
invariant matrices, which keep the distribution of the counts (section 3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from tacit.core.errors import ParameterError

CENTRE = 0.7
"""Largest probability of no change; where the equations leave room the tails get the rest."""
SMALLEST = 3
"""Smallest positive count that may be published where small cells are eliminated."""
Design = Literal["centred", "even"]
"""Most probability on no change, or all possible changes as even as the equations allow."""


def transition_matrix(
    max_change: int,
    variance: float,
    *,
    no_small_cells: bool = False,
    centre: float = CENTRE,
    design: Design = "centred",
    monotone: bool = True,
) -> np.ndarray:
    r"""Return noise for counts with mean zero, fixed variance and bounded change.

    Row `i` holds the probabilities of the new counts of a cell whose count is `i`; the last row
    serves every larger count. Rows 0 to D + 3, columns 0 to 2D + 3, D being the largest change.

    Parameters
    ----------
    max_change
        Largest change of a count, D.
    variance
        Variance of the change, the same for every count above zero.
    no_small_cells
        Whether new counts of 1 and 2 are ruled out.
    centre
        Largest probability that a count stays as it is; for the centred design.
    design
        ``"centred"``: no change is as probable as can be, up to `centre`. ``"even"``: the noise of
        largest entropy.
    monotone
        Whether probabilities must never rise away from the count.

    Raises
    ------
    ParameterError
        If no noise has these properties; the message says which variance would do.

    Notes
    -----
    Each row :math:`p_i` satisfies :math:`\sum_j p_{ij} = 1`, :math:`\sum_j p_{ij}(j-i) = 0`,
    :math:`\sum_j p_{ij}(j-i)^2 = V` and :math:`p_{ij} = 0` for :math:`|j-i| > D`, equations (1) to
    (9) of [giessing2011]_; a count of 0 stays 0, and rows from D + 3 on are symmetric. Tails
    never rise away from the count. Among such rows the one with the largest probability of no
    change is taken; where that would pass `centre`, it is set to `centre` and the tails are those
    of largest entropy. The even design maximises :math:`-\sum_j p_{ij} \log p_{ij}` instead, as
    the R package ptable does. The paper bends its tails by hand towards a normal distribution, so
    for D of 4 and 5 its figures differ from these in the second decimal.

    Examples
    --------
    >>> matrix = transition_matrix(max_change=3, variance=2.002, no_small_cells=True)
    >>> matrix[1, [0, 3]].round(3).tolist()
    [0.667, 0.333]
    """
    _check_design(max_change, variance, centre, design)
    n_rows = max_change + SMALLEST + 1
    matrix = np.zeros((n_rows, n_rows + max_change))
    matrix[0, 0] = 1.0
    for count in range(1, n_rows):
        allowed = _allowed(count, max_change, no_small_cells)
        symmetric = count == n_rows - 1 or (not no_small_cells and count >= max_change)
        rules = NoiseRules(variance, centre if design == "centred" else None, symmetric, monotone)
        matrix[count, allowed] = noise_row(count, allowed, rules)
    return matrix


@dataclass(frozen=True)
class NoiseRules:
    """What a row of noise must satisfy."""

    variance: float
    centre: float | None
    """Largest probability of no change; without one the entropy decides."""
    symmetric: bool = False
    monotone: bool = True


def _check_design(max_change: int, variance: float, centre: float, design: str) -> None:
    if design not in ("centred", "even"):
        raise ParameterError("the design of noise is centred or even", got=repr(design))
    if max_change < 1:
        raise ParameterError("the largest change must be at least 1", got=max_change)
    if not 0 < variance < np.inf:
        raise ParameterError("the variance must be above 0", got=variance)
    if not 0 < centre <= 1:
        raise ParameterError("the probability of no change must be in (0, 1]", got=centre)


def _allowed(count: int, max_change: int, no_small_cells: bool) -> np.ndarray:
    """Return the new counts that a count may become, (3) and (5) of the paper."""
    new = np.arange(max(0, count - max_change), count + max_change + 1)
    return new[(new == 0) | (new >= SMALLEST)] if no_small_cells else new


def noise_row(start: float, allowed: np.ndarray, rules: NoiseRules) -> np.ndarray:
    """Return the probabilities of the allowed new values of one value."""
    change = np.asarray(allowed - start, dtype=float)
    equal = np.vstack([np.ones_like(change), change, change**2])
    target = np.array([1.0, 0.0, rules.variance])
    if rules.symmetric:
        mirror = np.eye(len(change)) - np.eye(len(change))[::-1]
        equal = np.vstack([equal, mirror[: len(change) // 2]])
        target = np.append(target, np.zeros(len(change) // 2))
    falling = _never_rising(change)[: None if rules.monotone else 0]
    middle = int(np.argmin(np.abs(change)))
    best = _largest(middle, equal, target, falling)
    if best is None:
        raise ParameterError(
            f"no noise on a count of {start:g} has mean 0 and this variance",
            got=rules.variance,
            do=_possible(change, equal, target, falling),
        )
    if rules.centre is not None:
        if change[middle] != 0 or best[middle] <= rules.centre:
            return best
        fixed = np.zeros((1, len(change)))
        fixed[0, middle] = 1.0
        equal, target = np.vstack([equal, fixed]), np.append(target, rules.centre)
    if rules.monotone:
        # No change should be the most probable; where 1 and 2 are ruled out it cannot always be.
        peaked = np.vstack([falling, _peak_at(middle, change)])
        falling = peaked if _largest(middle, equal, target, peaked) is not None else falling
    return _most_even(best, equal, target, falling)


def _never_rising(change: np.ndarray) -> np.ndarray:
    """Return inequalities A p <= 0: away from the count, no probability exceeds the one before."""
    rows = []
    step = np.diff(change).min(initial=1.0)
    for side in (change > 0, change < 0):
        tail = np.flatnonzero(side)
        tail = tail[np.argsort(np.abs(change[tail]))]
        for near, far in pairwise(tail):
            row = np.zeros(len(change))
            # A gap (1 and 2 are ruled out) parts a tail: zero is no continuation of it.
            if np.isclose(abs(change[far] - change[near]), step):
                row[far], row[near] = 1.0, -1.0
                rows.append(row)
    return np.array(rows).reshape(len(rows), len(change))


def _peak_at(middle: int, change: np.ndarray) -> np.ndarray:
    """Return inequalities A p <= 0: the neighbours of no change are not more probable."""
    if change[middle] != 0:
        return np.zeros((0, len(change)))
    step = np.diff(change).min(initial=1.0)
    beside = np.flatnonzero(np.isclose(np.abs(change), step))
    rows = np.zeros((len(beside), len(change)))
    rows[np.arange(len(beside)), beside] = 1.0
    rows[:, middle] = -1.0
    return rows


def _largest(
    middle: int, equal: np.ndarray, target: np.ndarray, falling: np.ndarray
) -> np.ndarray | None:
    """Return the row with the largest probability at `middle`, or nothing if there is none."""
    from scipy.optimize import linprog

    goal = np.zeros(equal.shape[1])
    goal[middle] = -1.0
    found = linprog(
        goal,
        A_ub=falling if len(falling) else None,
        b_ub=np.zeros(len(falling)) if len(falling) else None,
        A_eq=equal,
        b_eq=target,
        bounds=(0, 1),
    )
    return np.clip(found.x, 0.0, 1.0) if found.success else None


def _possible(
    change: np.ndarray, equal: np.ndarray, target: np.ndarray, falling: np.ndarray
) -> str:
    """Say between which variances a row exists."""
    from scipy.optimize import linprog

    keep = np.arange(len(target)) != 2
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * change**2,
            A_ub=falling if len(falling) else None,
            b_ub=np.zeros(len(falling)) if len(falling) else None,
            A_eq=equal[keep],
            b_eq=target[keep],
            bounds=(0, 1),
        )
        if not found.success:
            return "allow a larger change"
        ends.append(sign * found.fun)
    return f"choose a variance from {ends[0]:.4g} to {ends[1]:.4g}, or allow a larger change"


def _most_even(
    start: np.ndarray, equal: np.ndarray, target: np.ndarray, falling: np.ndarray
) -> np.ndarray:
    """Return the row of largest entropy."""
    from scipy.optimize import LinearConstraint, minimize

    matrix, sums = _independent(equal, target)
    if len(sums) >= len(start):
        return start
    quick = _with_active(matrix, sums, falling)
    if quick is not None:
        return quick
    limits = [LinearConstraint(matrix, sums, sums)]
    if len(falling):
        limits.append(LinearConstraint(falling, -np.inf, 0.0))
    tiny = 1e-12
    found = minimize(
        lambda p: float(np.sum(p * np.log(np.maximum(p, tiny)))),
        np.clip(start, 1e-3, 1.0),
        jac=lambda p: np.log(np.maximum(p, tiny)) + 1.0,
        bounds=[(0.0, 1.0)] * len(start),
        constraints=limits,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    if not found.success:
        return start
    # One least-squares step puts the row back on its equations to the last digit.
    row = found.x + np.linalg.lstsq(matrix, sums - matrix @ found.x, rcond=None)[0]
    return np.asarray(np.clip(row, 0.0, 1.0))


def _with_active(matrix: np.ndarray, sums: np.ndarray, falling: np.ndarray) -> np.ndarray | None:
    """Return the row of largest entropy by making equations of the inequalities that bind."""
    active: list[int] = []
    for _ in range(4 * len(falling) + 1):
        found = _exponential(
            np.vstack([matrix, falling[active]]), np.append(sums, np.zeros(len(active)))
        )
        if found is None:
            return None
        row, multiples = found
        # A binding inequality may hold probability back, never draw it.
        pushing = multiples[len(sums) :]
        if len(active) and pushing.max() > 1e-9:
            active.pop(int(np.argmax(pushing)))
            continue
        excess = falling @ row if len(falling) else np.zeros(1)
        if excess.max() <= 1e-12:
            return row
        if int(np.argmax(excess)) in active:
            return None
        active.append(int(np.argmax(excess)))
    return None


def _exponential(matrix: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the row of largest entropy under equations alone, or nothing if some would be 0.

    It has the form exp(sum of multiples of the equations); Newton's method finds the multiples,
    which are returned too.
    """
    multiples = np.zeros(len(sums))
    for _ in range(200):
        row = np.exp(np.clip(multiples @ matrix - 1.0, -700, 50))
        missed = sums - matrix @ row
        if np.abs(missed).max() < 1e-14:
            return row, multiples
        curvature = (matrix * row) @ matrix.T + 1e-15 * np.eye(len(sums))
        step = np.linalg.lstsq(curvature, missed, rcond=None)[0]
        multiples = multiples + step * min(1.0, 2.0 / np.abs(step @ matrix).max())
    return (row, multiples) if np.abs(missed).max() < 1e-10 else None


def _independent(matrix: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out equations that follow from the others; the solver trips over them."""
    kept: list[int] = []
    for row in range(len(matrix)):
        if np.linalg.matrix_rank(matrix[[*kept, row]]) > len(kept):
            kept.append(row)
    return matrix[kept], target[kept]


def invariant_matrix(
    matrix: np.ndarray, frequencies: np.ndarray, *, mix: float = 1.0
) -> np.ndarray:
    r"""Return a transition matrix that keeps the distribution of the counts in expectation.

    Parameters
    ----------
    matrix
        Any square transition matrix P.
    frequencies
        How often each count occurs, v.
    mix
        Share of the invariant matrix; the rest is no change at all.

    Notes
    -----
    :math:`R = PQ` with :math:`Q_{ij} = P_{ji} v_j / \sum_k P_{ki} v_k`, mixed as
    :math:`\alpha R + (1-\alpha) I`; then :math:`vR = v` [shlomo2008]_, section 3.2 of
    [giessing2011]_.

    Examples
    --------
    >>> v = np.array([5.0, 3.0, 2.0])
    >>> p = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]])
    >>> np.allclose(v @ invariant_matrix(p, v), v)
    True
    """
    matrix = np.asarray(matrix, dtype=float)
    frequencies = np.asarray(frequencies, dtype=float)
    if matrix.ndim != 2 or matrix.shape != (len(frequencies), len(frequencies)):
        raise ParameterError(
            "a square transition matrix with one row per frequency is needed",
            got=f"{matrix.shape} for {len(frequencies)} frequencies",
        )
    if np.any(matrix < 0) or not np.allclose(matrix.sum(axis=1), 1.0):
        raise ParameterError("the rows of a transition matrix are probabilities that add up to 1")
    if np.any(frequencies < 0) or not 0 <= mix <= 1:
        raise ParameterError("frequencies must not be negative and the mix must be in [0, 1]")
    back = matrix.T * frequencies
    arriving = back.sum(axis=1, keepdims=True)
    identity = np.eye(len(frequencies))
    # A count that nothing becomes has no way back to learn from; it would stay as it is.
    back = np.where(arriving > 0, back / np.where(arriving > 0, arriving, 1.0), identity)
    return np.asarray(mix * (matrix @ back) + (1.0 - mix) * identity)


def eliminate_small(
    invariant: np.ndarray, frequencies: np.ndarray, *, stay: float = 0.6
) -> np.ndarray:
    r"""Turn an invariant matrix for counts "under four", 4, 5, ... into one without 1 and 2.

    The joint frequency of counts 1 to 3, every larger frequency and the expected sum of the counts
    are kept. Rows and columns of the result are the counts 0, 1, 2, ...

    Parameters
    ----------
    invariant
        Invariant matrix whose first row and column stand for counts 1 to 3 together.
    frequencies
        How often the counts 1, 2, 3, 4, ... occur.
    stay
        Probability that a count of 3 stays 3.

    Notes
    -----
    What leaves the joint class leaves from 3, what enters it becomes 3; the flows between two
    counts are equal both ways, so they do not change the sum. A count of 3 that neither stays nor
    leaves becomes 0, and the ones and twos make up for it:
    :math:`p_{13} = (1+b)/3, p_{23} = (2+b)/3, b = 3 n_{30}/(n_1+n_2)`. This returns Table 3 of
    [giessing2011]_ to every digit printed.
    """
    frequencies = np.asarray(frequencies, dtype=float)
    if len(frequencies) < SMALLEST or len(invariant) != len(frequencies) - 2:
        raise ParameterError(
            "frequencies of counts 1, 2, 3, ... and a matrix with two rows fewer are needed",
            got=f"{len(frequencies)} frequencies, {len(invariant)} rows",
        )
    ones, twos, threes = frequencies[:3]
    leaving = (ones + twos + threes) * invariant[0, 1:]
    to_zero = threes * (1.0 - stay) - leaving.sum()
    if threes <= 0 or to_zero < 0:
        raise ParameterError(
            "too few counts of 3 to feed the larger counts",
            got=f"{threes:g} of them, {leaving.sum():g} would leave",
            do="lower the mix of the invariant matrix, or `stay`",
        )
    bias = 3.0 * to_zero / (ones + twos) if ones + twos > 0 else 0.0
    if bias > 1:
        raise ParameterError(
            "the ones and twos cannot make up for the threes that vanish",
            got=f"{to_zero:g} threes for {ones + twos:g} ones and twos",
            do="raise `stay`",
        )
    return _without_small(invariant, frequencies, leaving / threes, stay, bias)


def _without_small(
    invariant: np.ndarray, frequencies: np.ndarray, leaving: np.ndarray, stay: float, bias: float
) -> np.ndarray:
    size = len(frequencies) + 1
    matrix = np.zeros((size, size))
    matrix[0, 0] = 1.0
    for count in (1, 2):
        matrix[count, 3] = (count + bias) / 3.0
        matrix[count, 0] = 1.0 - matrix[count, 3]
    matrix[3, 3], matrix[3, 4:] = stay, leaving
    matrix[3, 0] = 1.0 - matrix[3].sum()
    matrix[4:, 3:] = invariant[1:]
    return matrix
