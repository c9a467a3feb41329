# mypy: ignore-errors
"""Regret matching of several players, round by round.

Symbols: U payoffs, one row per player and one column per profile; stride[i] the distance between
profiles that differ by one in player i's strategy; D[i, a, b] the sum over rounds in which i played
a of what b would have brought more.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def _next_strategy(regret, current, size, step, draw):
    """Stay with the current strategy, or switch with probability in proportion to regret."""
    for b in range(size):
        if b != current:
            draw -= max(regret[current, b], 0.0) * step
            if draw < 0:
                return b
    return current


@njit(cache=True, nogil=True)
def match_regrets(U, sizes, stride, inertia, rounds, rng):
    """Return how often each profile was played."""
    n_players, n_profiles = U.shape
    D = np.zeros((n_players, sizes.max(), sizes.max()))
    current = np.empty(n_players, np.int64)
    for i in range(n_players):
        current[i] = rng.integers(0, sizes[i])
    played = np.zeros(n_profiles)
    for t in range(rounds):
        profile = 0
        for i in range(n_players):
            profile += current[i] * stride[i]
        played[profile] += 1
        for i in range(n_players):
            a = current[i]
            base = profile - a * stride[i]
            for b in range(sizes[i]):
                D[i, a, b] += U[i, base + b * stride[i]] - U[i, profile]
            step = 1.0 / (inertia[i] * (t + 1))
            current[i] = _next_strategy(D[i], a, sizes[i], step, rng.random())
    return played
