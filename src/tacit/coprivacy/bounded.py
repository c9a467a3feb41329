"""Mixed equilibria of players who cannot choose every mixture.

A player whose probabilities have bounds chooses from a polytope. Payoffs are linear in each
player's mixture, so the game is the same as the finite one whose strategies are the corner points.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from tacit.coprivacy._payoffs import check_size
from tacit.coprivacy.game import Game
from tacit.coprivacy.mixed import MixedEquilibria, MixedEquilibrium, mixed_equilibria
from tacit.core.errors import ParameterError

Bounds = Mapping[str, Mapping[str, tuple[float, float]]]
"""For some players, for some strategies: smallest and largest probability."""
_MOST_STRATEGIES = 12
_SAME = 1e-9


def bounded_equilibria(game: Game, bounds: Bounds) -> MixedEquilibria:
    """Find mixed equilibria in which every player keeps to the bounds.

    Parameters
    ----------
    game
        The game.
    bounds
        For some players, for some strategies: smallest and largest probability. A player without
        bounds may choose any mixture.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> dilemma = coprivacy.prisoners_dilemma().game()
    >>> print(coprivacy.bounded_equilibria(dilemma, {"P1": {"silent": (0.3, 1)}}))
    P1: betray 0.7, silent 0.3 ; P2: betray 1
    """
    if not bounds:
        return mixed_equilibria(game)
    for player in bounds:
        game.player_index(player)
    corners = [_corners_of(game, player, bounds.get(player, {})) for player in game.players]
    check_size([len(points) for points in corners])
    reduced = mixed_equilibria(Game(_between_corners(game.payoffs, corners), players=game.players))
    found = tuple(_in_strategies(game, corners, e) for e in reduced)
    return MixedEquilibria(found, reduced.is_complete, f"{reduced.method}, within bounds")


def _corners_of(game: Game, player: str, own: Mapping[str, tuple[float, float]]) -> np.ndarray:
    names = game.strategies[game.player_index(player)]
    limits = np.tile([0.0, 1.0], (len(names), 1))
    for strategy, (low, high) in own.items():
        if not 0 <= low <= high <= 1:
            raise ParameterError(
                f"bounds of {player} on {strategy!r} must be two probabilities in order",
                got=(low, high),
            )
        limits[game.strategy_index(player, strategy)] = low, high
    if not own:
        return np.eye(len(names))
    return _corners(limits, player)


def _corners(limits: np.ndarray, player: str) -> np.ndarray:
    """List the corner points of the probabilities within limits."""
    size = len(limits)
    if size > _MOST_STRATEGIES:
        raise ParameterError(f"bounds work up to {_MOST_STRATEGIES} strategies", got=size)
    points = []
    for free in range(size):  # at a corner all but one probability are at a limit
        rest = [i for i in range(size) if i != free]
        ends = np.array(list(product(*limits[rest]))).reshape(-1, size - 1)
        candidates = np.insert(ends, free, 1 - ends.sum(axis=1), axis=1)
        last = candidates[:, free]
        points.append(
            candidates[(last >= limits[free, 0] - _SAME) & (last <= limits[free, 1] + _SAME)]
        )
    corners = np.unique(np.round(np.vstack(points), 12), axis=0)
    if not len(corners):
        raise ParameterError(f"no mixture of {player} keeps to the bounds", got=limits.tolist())
    return corners[::-1]


def _between_corners(payoffs: np.ndarray, corners: list[np.ndarray]) -> np.ndarray:
    for axis, points in enumerate(corners, start=1):
        payoffs = np.moveaxis(np.tensordot(payoffs, points, axes=([axis], [1])), -1, axis)
    return payoffs


def _in_strategies(
    game: Game, corners: list[np.ndarray], found: MixedEquilibrium
) -> MixedEquilibrium:
    chances = {}
    for player, names, points in zip(game.players, game.strategies, corners, strict=True):
        weights = np.array(list(found.probabilities[player].values()))
        chances[player] = dict(zip(names, (weights @ points).tolist(), strict=True))
    return MixedEquilibrium(chances, found.payoffs, found.largest_gain)
