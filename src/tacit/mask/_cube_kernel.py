# mypy: ignore-errors
"""The cube method: balanced sampling on arrays (deville2004, chauvet2006).

Symbols: pi is the vector of inclusion probabilities, on its way to zeros and ones; A holds the
balancing variables of each unit divided by its first inclusion probability, units by variables;
u is a direction in which pi can move without changing A'pi.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_ZERO = 1e-9
"""Probabilities this near to 0 or 1 are settled; pivots this small are none."""


@njit(cache=True, nogil=True)
def balanced_sample(A, pi, order, draws):
    """Turn inclusion probabilities into a sample whose totals of A are kept but for rounding.

    Units enter a window of one more than the balancing variables, in the given order, and are
    replaced as soon as they are settled (the fast flight phase of chauvet2006). When no direction
    is left, the last variable is given up and the flight goes on (landing by suppression of
    variables); so the first variables are kept best. `draws` holds one number per unit.
    """
    n, n_variables = A.shape
    pi = pi.copy()
    window = np.empty(n_variables + 1, np.int64)
    u = np.empty(n_variables + 1)
    work = np.empty((n_variables, n_variables + 1))
    held, entering, steps = 0, 0, 0
    while True:
        while held < n_variables + 1 and entering < n:
            unit = order[entering]
            entering += 1
            if _ZERO < pi[unit] < 1.0 - _ZERO:
                window[held] = unit
                held += 1
        if held == 0:
            break
        if not _direction(A, window, held, n_variables, work, u):
            n_variables -= 1
            continue
        step(pi, window, held, u, draws[steps])
        steps += 1
        held = _unsettled(pi, window, held)
    return pi > 0.5


@njit(cache=True, nogil=True)
def _direction(A, window, held, n_variables, work, u):
    """Find u with A'u = 0 on the window by elimination; return whether there is one."""
    for r in range(n_variables):
        for c in range(held):
            work[r, c] = A[window[c], r]
    rank, free = 0, -1
    pivot_columns = np.empty(n_variables, np.int64)
    for c in range(held):
        best, size = -1, _ZERO
        for r in range(rank, n_variables):
            if abs(work[r, c]) > size:
                best, size = r, abs(work[r, c])
        if best < 0:
            free = c
            break
        for k in range(c, held):
            work[rank, k], work[best, k] = work[best, k], work[rank, k]
        for r in range(n_variables):
            if r != rank and work[r, c] != 0.0:
                factor = work[r, c] / work[rank, c]
                for k in range(c, held):
                    work[r, k] -= factor * work[rank, k]
        pivot_columns[rank] = c
        rank += 1
    if free < 0:
        return False
    u[:held] = 0.0
    u[free] = 1.0
    for r in range(rank):
        u[pivot_columns[r]] = -work[r, free] / work[r, pivot_columns[r]]
    return True


@njit(cache=True, nogil=True)
def step(pi, window, held, u, draw):
    """Move along u or against it, as far as the cube allows, so that pi is kept in expectation."""
    ahead, back, first_ahead, first_back = np.inf, np.inf, -1, -1
    for c in range(held):
        if u[c] == 0.0:
            continue
        p = pi[window[c]]
        up, down = (1.0 - p) / abs(u[c]), p / abs(u[c])
        if u[c] < 0.0:
            up, down = down, up
        if up < ahead:
            ahead, first_ahead = up, c
        if down < back:
            back, first_back = down, c
    forward = draw * (ahead + back) < back
    length = ahead if forward else -back
    for c in range(held):
        pi[window[c]] += length * u[c]
    first = first_ahead if forward else first_back
    pi[window[first]] = 1.0 if (u[first] > 0.0) == forward else 0.0


@njit(cache=True, nogil=True)
def _unsettled(pi, window, held):
    """Keep the units of the window that are neither drawn nor left out yet."""
    kept = 0
    for c in range(held):
        if _ZERO < pi[window[c]] < 1.0 - _ZERO:
            window[kept] = window[c]
            kept += 1
    return kept
