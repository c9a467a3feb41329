"""The path of Lemke and Howson from one strategy to a mixed equilibrium of two players.

Our own rather than nashpy's: that one keeps whole numbers, which overflow from some twenty
strategies on, and then never ends. Here rows are normalised, ties are broken lexicographically,
and a path has a longest length.

Labels: i for the i-th strategy of the first player, m + j for the j-th of the second. In the first
tableau columns are x and the slacks of the second player's best responses, in the second the
slacks of the first player's and y; a profile is an equilibrium when every label is non-basic.
"""

from __future__ import annotations

import numpy as np

_LONGEST = 20_000
_ZERO = 1e-11


def equilibrium_from(payoffs: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Follow the path that starts by dropping a label; None if it does not end.

    Parameters
    ----------
    payoffs
        Payoffs of both players, between 0 and 1.
    label
        The strategy to start with.
    """
    first, second = payoffs + 1.0  # positive, so that both polytopes are bounded
    m, n = first.shape
    tableaus = (_tableau(second.T, slacks_first=False), _tableau(first, slacks_first=True))
    bases = (np.arange(m, m + n), np.arange(m))
    side, entering = (0 if label < m else 1), label
    for _ in range(_LONGEST):
        leaving = _pivot(tableaus[side], bases[side], entering)
        if leaving is None:
            return None
        if leaving == label:
            return _strategies(tableaus, bases, m, n)
        side, entering = 1 - side, leaving
    return None


def _tableau(matrix: np.ndarray, *, slacks_first: bool) -> np.ndarray:
    rows = len(matrix)
    blocks = [np.eye(rows), matrix] if slacks_first else [matrix, np.eye(rows)]
    return np.hstack([*blocks, np.ones((rows, 1))])


def _pivot(tableau: np.ndarray, basis: np.ndarray, entering: int) -> int | None:
    """Bring a variable into the basis and return the one that leaves; None if nothing can."""
    column = tableau[:, entering]
    rows = np.flatnonzero(column > _ZERO)
    if not len(rows):
        return None
    row = _smallest_ratio(tableau, rows, column)
    tableau[row] /= tableau[row, entering]
    others = np.arange(len(tableau)) != row
    tableau[others] -= np.outer(tableau[others, entering], tableau[row])
    leaving, basis[row] = int(basis[row]), entering
    return leaving


def _smallest_ratio(tableau: np.ndarray, rows: np.ndarray, column: np.ndarray) -> int:
    """Choose the row of the smallest ratio; where rows tie, compare the columns one by one."""
    last = tableau.shape[1] - 1
    for position in [last, *range(last)]:
        if len(rows) == 1:
            break
        ratios = tableau[rows, position] / column[rows]
        rows = rows[ratios <= ratios.min() + _ZERO]
    return int(rows[0])


def _strategies(
    tableaus: tuple[np.ndarray, np.ndarray], bases: tuple[np.ndarray, np.ndarray], m: int, n: int
) -> tuple[np.ndarray, np.ndarray] | None:
    x, y = np.zeros(m), np.zeros(n)
    own, theirs = bases[0] < m, bases[1] >= m
    x[bases[0][own]] = tableaus[0][own, -1]
    y[bases[1][theirs] - m] = tableaus[1][theirs, -1]
    if x.sum() <= 0 or y.sum() <= 0:
        return None
    return x / x.sum(), y / y.sum()
