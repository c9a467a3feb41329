# mypy: ignore-errors
"""Newton's method for the indifference of several players on one combination of supports.

Symbols: U payoffs on the supports, one row per player and one column per profile; S the profiles,
one row per profile and one column per player, as positions in x; first[i] where player i's
probabilities begin in x; x the probabilities of all players one after another, then each player's
value v. Equations: for each player and strategy, expected payoff = v; for each player,
probabilities add up to one.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_STEPS = 60
_EXACT = 1e-13


@njit(cache=True, nogil=True)
def _equations(U, S, first, x, residual, jacobian):
    """Fill the residual and its derivatives."""
    n_players, n_profiles = U.shape
    n = first[n_players]
    residual[:] = 0.0
    jacobian[:] = 0.0
    for s in range(n_profiles):
        for i in range(n_players):
            row = S[s, i]
            product = 1.0
            for j in range(n_players):
                if j != i:
                    product *= x[S[s, j]]
            residual[row] += U[i, s] * product
            for j in range(n_players):
                if j != i:
                    without = 1.0
                    for k in range(n_players):
                        if k != i and k != j:
                            without *= x[S[s, k]]
                    jacobian[row, S[s, j]] += U[i, s] * without
    for i in range(n_players):
        total = -1.0
        for row in range(first[i], first[i + 1]):
            residual[row] -= x[n + i]
            jacobian[row, n + i] = -1.0
            jacobian[n + i, row] = 1.0
            total += x[row]
        residual[n + i] = total


@njit(cache=True, nogil=True)
def _eliminate(A, b):
    """Solve A y = b in place by Gauss with pivots; return whether it could be done."""
    n = len(b)
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(A[r, c]) > abs(A[best, c]):
                best = r
        if abs(A[best, c]) < 1e-13:
            return False
        for k in range(n):
            A[c, k], A[best, k] = A[best, k], A[c, k]
        b[c], b[best] = b[best], b[c]
        for r in range(c + 1, n):
            factor = A[r, c] / A[c, c]
            for k in range(c, n):
                A[r, k] -= factor * A[c, k]
            b[r] -= factor * b[c]
    for c in range(n - 1, -1, -1):
        for k in range(c + 1, n):
            b[c] -= A[c, k] * b[k]
        b[c] /= A[c, c]
    return True


@njit(cache=True, nogil=True)
def newton(U, S, first, start):
    """Return the solution reached from a start, or an array of NaN."""
    x = start.copy()
    residual = np.empty(len(x))
    jacobian = np.empty((len(x), len(x)))
    for _ in range(_STEPS):
        _equations(U, S, first, x, residual, jacobian)
        if np.abs(residual).max() < _EXACT:
            return x
        if not _eliminate(jacobian, residual):
            break
        x -= residual
        if not np.abs(x).max() < 1e3:
            break
    _equations(U, S, first, x, residual, jacobian)
    if not np.abs(residual).max() < 1e-10:
        x[:] = np.nan
    return x
