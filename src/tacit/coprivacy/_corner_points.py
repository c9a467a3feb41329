"""All equilibria of two players, by the corner points of their best-response polytopes.

Symbols: the first player's polytope is P = {x >= 0, B'x <= 1}, the second's Q = {y >= 0, Ay <= 1},
payoffs A and B above zero. A corner of P has the labels i where x_i = 0 and m + j where strategy j
of the second player is a best answer to x; a corner of Q likewise. A pair of corners that together
have every label is an equilibrium, and where equilibria form a continuum these pairs are its corner
points. Solving for one pair of supports of equal size after another, as is usual, misses some of
them where a player has more best answers than strategies in use.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

_ZERO = 1e-9
_WORST = 1e12
"""A system of equations with a larger condition number has no usable solution."""


def corner_equilibria(payoffs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the equilibria of a game of two players, corner points where there are many.

    Parameters
    ----------
    payoffs
        Payoffs of both players, between 0 and 1.
    """
    first, second = payoffs + 1.0  # positive, so that both polytopes are bounded
    x, zero_x, answered_by = _corners(second.T)
    y, zero_y, answers = _corners(first)
    labels_x = np.hstack([zero_x, answered_by]).astype(np.int32)
    labels_y = np.hstack([answers, zero_y]).astype(np.int32)
    # A label is missing where neither corner has it.
    missing = (1 - labels_x) @ (1 - labels_y).T
    return [(x[a] / x[a].sum(), y[b] / y[b].sum()) for a, b in np.argwhere(missing == 0)]


def _corners(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the corners of {x >= 0, matrix x <= 1} but zero, where x is zero, which rows bind."""
    n_rows, n_columns = matrix.shape
    found = [_on_supports(matrix, size) for size in range(1, min(n_rows, n_columns) + 1)]
    points = np.vstack(found)
    inside = (points >= -_ZERO).all(axis=1) & (points @ matrix.T <= 1 + _ZERO).all(axis=1)
    corners = np.clip(points[inside], 0.0, None)
    _, once = np.unique(corners.round(9), axis=0, return_index=True)
    corners = corners[once]
    return corners, corners <= _ZERO, corners @ matrix.T >= 1 - _ZERO


def _on_supports(matrix: np.ndarray, size: int) -> np.ndarray:
    """Solve for every choice of `size` positive coordinates and as many rows that bind."""
    n_rows, n_columns = matrix.shape
    rows = np.array(list(combinations(range(n_rows), size)))
    columns = np.array(list(combinations(range(n_columns), size)))
    chosen = np.repeat(columns, len(rows), axis=0)
    systems = matrix[np.tile(rows, (len(columns), 1))[:, :, None], chosen[:, None, :]]
    solvable = np.linalg.cond(systems) < _WORST
    ones = np.ones((int(solvable.sum()), size, 1))
    points = np.zeros((len(ones), n_columns))
    solved = np.linalg.solve(systems[solvable], ones)[:, :, 0]
    np.put_along_axis(points, chosen[solvable], solved, axis=1)
    return points
