"""Correlated and epsilon-correlated equilibria, by linear programming on HiGHS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.coprivacy.game import Game, Profile
from tacit.core.errors import DataError, ParameterError

Objective = Literal["welfare", "equal"] | Mapping[str, str]
"""What to make large: the sum of payoffs, the smallest payoff, or the probability of a choice."""
_MOST_PROFILES = 200_000
_SMALL = 1e-9


@dataclass(frozen=True, eq=False)
class CorrelatedEquilibrium:
    """Advice drawn at random for all players together, which everybody does well to follow."""

    game: Game
    """The game."""
    distribution: np.ndarray
    """Probability of each profile of strategies, one axis per player."""

    @property
    def payoffs(self) -> dict[str, float]:
        """What each player expects when all follow the advice."""
        worth = (self.game.payoffs * self.distribution).reshape(len(self.game.players), -1)
        return dict(zip(self.game.players, worth.sum(axis=1).tolist(), strict=True))

    @property
    def incentives(self) -> dict[str, float]:
        """The most each player expects to gain by any rule for departing from the advice."""
        found = incentives(self.game, self.distribution)
        return dict(zip(self.game.players, found.tolist(), strict=True))

    @property
    def epsilon(self) -> float:
        """The largest incentive: the advice is an equilibrium up to this much."""
        return max(self.incentives.values())

    @property
    def advice(self) -> dict[tuple[str, ...], float]:
        """The profiles that are advised, with their probabilities, most likely first."""
        where = np.argwhere(self.distribution > _SMALL)
        named = {
            tuple(self.game.profile(index).values()): float(self.distribution[tuple(index)])
            for index in where.tolist()
        }
        return dict(sorted(named.items(), key=lambda item: -item[1]))

    def probability(self, choice: Mapping[str, str]) -> float:
        """Return the probability that some players are advised some strategies."""
        return float(self.distribution[chosen(self.game, choice)].sum())

    def as_dict(self) -> dict[str, Any]:
        """Return the equilibrium as plain data."""
        advice = [{"profile": list(p), "probability": q} for p, q in self.advice.items()]
        return {"advice": advice, "payoffs": self.payoffs, "epsilon": self.epsilon}

    def __str__(self) -> str:
        lines = [f"({', '.join(profile)})  {q:.4g}" for profile, q in self.advice.items()]
        worth = ", ".join(f"{player} {u:.6g}" for player, u in self.payoffs.items())
        return "\n".join([*lines, f"expected: {worth}"])


def correlated_equilibrium(
    game: Game, objective: Objective = "welfare", *, epsilon: float = 0.0
) -> CorrelatedEquilibrium:
    r"""Find the best (epsilon-)correlated equilibrium of a game.

    Parameters
    ----------
    game
        The game.
    objective
        ``welfare`` makes the sum of payoffs as large as possible, ``equal`` the smallest payoff,
        a choice such as ``{"P1": "ask P2", "P2": "help"}`` the probability of that choice.
    epsilon
        The most that a player may expect to gain by departing from the advice.

    Notes
    -----
    The unknowns are the probabilities :math:`p(s)` of all profiles. For every player i and every
    advised strategy a let :math:`z_{ia} \ge \sum_{s_{-i}} p(a, s_{-i}) (u_i(b, s_{-i}) -
    u_i(a, s_{-i}))` for all b; the players follow the advice if :math:`\sum_a z_{ia} \le \epsilon`
    [aumann1974]_. With epsilon zero these are the correlated equilibria, which hold every Nash
    equilibrium; the linear programme always has a solution.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> chicken = coprivacy.Game([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], strategies=["CD", "CD"])
    >>> print(chicken.correlated_equilibrium())
    (C, C)  0.5
    (C, D)  0.25
    (D, C)  0.25
    expected: P1 5.25, P2 5.25
    """
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ParameterError("epsilon must be a number, 0 or above", got=epsilon)
    if game.payoffs[0].size > _MOST_PROFILES:
        raise ParameterError(
            "the game has too many outcomes for correlated equilibria",
            got=f"{game.payoffs[0].size:,}, at most {_MOST_PROFILES:,}",
            do="use fewer players, or learn one with regret_matching",
        )
    p = np.clip(_solved(game, objective, epsilon), 0.0, None)
    return CorrelatedEquilibrium(game, (p / p.sum()).reshape(game.sizes))


def chosen(game: Game, choice: Mapping[str, str]) -> tuple[Any, ...]:
    """Return the index of all profiles in which some players make some choices."""
    index: list[Any] = [slice(None)] * len(game.players)
    for player, strategy in choice.items():
        index[game.player_index(player)] = game.strategy_index(player, strategy)
    return tuple(index)


# -- incentives --------------------------------------------------------------------------------


def incentives(game: Game, distribution: np.ndarray) -> np.ndarray:
    """Return what each player expects to gain by the best rule for departing from the advice."""
    gains = [_gains(game, distribution, player) for player in range(len(game.players))]
    return np.array([np.clip(gain.max(axis=1), 0.0, None).sum() for gain in gains])


def _gains(game: Game, distribution: np.ndarray, player: int) -> np.ndarray:
    """Return the expected gain of playing b (columns) whenever a (rows) is advised."""
    own = np.moveaxis(game.payoffs[player], player, 0).reshape(game.sizes[player], -1)
    p = np.moveaxis(distribution, player, 0).reshape(own.shape)
    gain: np.ndarray = p @ own.T - (p * own).sum(axis=1, keepdims=True)
    return gain


def check_distribution(game: Game, distribution: np.ndarray) -> np.ndarray:
    """Refuse what is no distribution over the profiles of a game."""
    p = np.asarray(distribution, dtype=float)
    if p.shape != game.sizes or not np.isfinite(p).all() or p.min() < 0 or p.sum() <= 0:
        raise DataError(
            "a distribution needs one probability per outcome",
            got=f"shape {p.shape}, outcomes {game.sizes}",
        )
    share: np.ndarray = p / p.sum()
    return share


def certain(game: Game, profile: Profile) -> CorrelatedEquilibrium:
    """Return the advice to play one profile for sure; its `epsilon` says how well it holds."""
    distribution = np.zeros(game.sizes)
    distribution[game.index(profile)] = 1.0
    return CorrelatedEquilibrium(game, distribution)


# -- the linear programme ----------------------------------------------------------------------


def _solved(game: Game, objective: Objective, epsilon: float) -> np.ndarray:
    """Solve for p, then z; the smallest payoff, where it is the objective, comes last."""
    from scipy.optimize import linprog

    rows, limits = _constraints(game, epsilon)
    n, n_z = game.payoffs[0].size, sum(game.sizes)
    cost, extra = _cost(game, objective, n + n_z)
    if extra is not None:
        rows, limits = _with_smallest(rows, limits, game)
    adds_up = np.zeros((1, len(cost)))
    adds_up[0, :n] = 1.0
    bounds = [(0, None)] * (n + n_z) + ([(None, None)] if extra is not None else [])
    done = linprog(cost, A_ub=rows, b_ub=limits, A_eq=adds_up, b_eq=[1.0], bounds=bounds,
                   method="highs")  # fmt: skip
    if done.x is None or done.status != 0:
        raise DataError("the linear programme was not solved", got=done.message)
    solution: np.ndarray = done.x[:n]
    return solution


def _scales(game: Game) -> np.ndarray:
    spread = np.ptp(game.payoffs.reshape(len(game.players), -1), axis=1)
    return np.where(spread > 0, spread, 1.0)


def _constraints(game: Game, epsilon: float) -> tuple[Any, np.ndarray]:
    """Write the incentive constraints, each player's payoffs in units of their range."""
    from scipy.sparse import csr_array, hstack, vstack

    n, n_z = game.payoffs[0].size, sum(game.sizes)
    blocks, limits, scales = [], [], _scales(game)
    first = np.concatenate([[0], np.cumsum(game.sizes)])
    for player, size in enumerate(game.sizes):
        gain, rows_of = _deviation_rows(game, player)
        z = csr_array((-np.ones(len(rows_of)), (np.arange(len(rows_of)), first[player] + rows_of)),
                      shape=(len(rows_of), n_z))  # fmt: skip
        blocks.append(hstack([gain / scales[player], z]))
        limits.append(np.zeros(len(rows_of)))
        total = np.zeros((1, n + n_z))
        total[0, n + first[player] : n + first[player] + size] = 1.0
        blocks.append(csr_array(total))
        limits.append(np.array([epsilon / scales[player]]))
    return vstack(blocks).tocsr(), np.concatenate(limits)


def _deviation_rows(game: Game, player: int) -> tuple[Any, np.ndarray]:
    """Return one row per (advised a, played b): what p must be multiplied with to give the gain."""
    from scipy.sparse import csr_array

    size, own = game.sizes[player], game.payoffs[player]
    cells = np.arange(own.size).reshape(game.sizes)
    rows_of: list[int] = []
    data, columns, rows = [], [], []
    for a, b in _ordered_pairs(size):
        where = np.take(cells, a, axis=player).ravel()
        data.append((np.take(own, b, axis=player) - np.take(own, a, axis=player)).ravel())
        columns.append(where)
        rows.append(np.full(len(where), len(rows_of)))
        rows_of.append(a)
    if not rows_of:
        return csr_array((0, own.size)), np.zeros(0, dtype=int)
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(entries, shape=(len(rows_of), own.size)), np.array(rows_of)


def _ordered_pairs(size: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in range(size) for b in range(size) if a != b)


def _cost(game: Game, objective: Objective, n: int) -> tuple[np.ndarray, bool | None]:
    """Return the costs to minimise, and whether a last variable holds the smallest payoff."""
    cost = np.zeros(n)
    if isinstance(objective, Mapping):
        wanted = np.zeros(game.sizes)
        wanted[chosen(game, objective)] = -1.0
        cost[: wanted.size] = wanted.ravel()
        return cost, None
    if objective == "welfare":
        total = game.payoffs.sum(axis=0).ravel()
        cost[: total.size] = (total.min() - total) / (float(np.ptp(total)) or 1.0)
        return cost, None
    if objective == "equal":
        return np.append(cost, -1.0), True
    raise ParameterError(
        "the objective must be welfare, equal or a choice of strategies", got=repr(objective)
    )


def _with_smallest(rows: Any, limits: np.ndarray, game: Game) -> tuple[Any, np.ndarray]:
    """Add t, with t at most every player's expected payoff."""
    from scipy.sparse import csr_array, hstack, vstack

    n_players, n = len(game.players), game.payoffs[0].size
    z = np.zeros((n_players, rows.shape[1] - n))
    worth = np.hstack([-game.payoffs.reshape(n_players, -1), z, np.ones((n_players, 1))])
    wider = hstack([rows, csr_array((rows.shape[0], 1))])
    return vstack([wider, csr_array(worth)]).tocsr(), np.append(limits, np.zeros(n_players))
