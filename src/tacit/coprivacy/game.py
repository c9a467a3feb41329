"""Games in normal form: players, strategies, what each outcome is worth to each player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.coprivacy._payoffs import Strategies, check_numbers, payoff_array
from tacit.core.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from tacit.coprivacy.correlated import CorrelatedEquilibrium, Objective
    from tacit.coprivacy.equilibrium import Equilibria
    from tacit.coprivacy.mixed import MixedEquilibria

Profile = Mapping[str, str] | Sequence[str]
"""One strategy per player: by player's name, or in the order of the players."""
Dominance = Literal["strict", "weak", "very weak"]
SLACK = 1e-9
"""Payoffs closer than this share of a player's range are equal: entropies carry rounding errors."""


@dataclass(frozen=True)
class Move:
    """What a player would gain by playing something else while the others stay."""

    player: str
    """Who moves."""
    strategy: str
    """What the player plays now."""
    to: str
    """What the player would play instead."""
    gain: float
    """Payoff after less payoff before; negative where moving costs."""
    parts: Mapping[str, float]
    """The gain by part of the utility (privacy, functionality, ...), where the game has parts."""


class Game:
    r"""A game: who plays, what they can do, what every outcome is worth to everybody.

    Parameters
    ----------
    payoffs
        An array of shape (players, strategies of the first player, of the second, ...), such as the
        pair of matrices of a two-player game; or ``{("H", "P"): (1, 0), ...}``, one entry per
        outcome with one number per player.
    players
        Names of the players; by default ``P1``, ``P2``, ...
    strategies
        For each player the names of the strategies; by default ``1``, ``2``, ...
    together
        What counts as helping one another: choices of two or more players, such as
        ``{"P1": "ask P2", "P2": "help"}``; the definitions of coprivacy look at these.

    Notes
    -----
    Utilities are :math:`u_i(s_i, s_{-i})`, where :math:`s_{-i}` is what all but player i play, as
    in Section 2 of [domingoferrer2011]_. Costs are negative payoffs. Missing payoffs are refused.
    The file of a game and its results hold nothing but the payoffs: no data on persons.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> game = coprivacy.Game([[[0, 1], [0, 0.5]], [[0, 0], [1, 0.5]]], strategies=["HP", "HP"])
    >>> print(game.equilibria())
    P1  P2  payoffs  equilibrium
    H   H   0, 0     weak, by (weakly) dominant strategies; (P, P) would give everybody more
    H   P   1, 0     weak
    P   H   0, 1     weak
    """

    def __init__(
        self,
        payoffs: Any,
        *,
        players: Sequence[str] | None = None,
        strategies: Sequence[Sequence[str]] | None = None,
        together: Sequence[Mapping[str, str]] = (),
    ) -> None:
        array, named = payoff_array(payoffs, strategies)
        sizes = array.shape[1:]
        self.players = _player_names(players, len(sizes))
        self.strategies = _strategy_names(named or strategies, sizes, self.players)
        check_numbers(array, self.strategies, self.players)
        array.setflags(write=False)
        self.payoffs = array
        """Payoffs: player first, then one axis per player."""
        self.parts: Mapping[str, np.ndarray] = {}
        """The payoffs by part (privacy, functionality, security), which add up to `payoffs`."""
        self.together = tuple(self._partial(choice) for choice in together)
        """Choices that count as helping one another."""

    @classmethod
    def of_parts(
        cls,
        parts: Mapping[str, Any],
        *,
        weights: Mapping[str, float] | None = None,
        players: Sequence[str] | None = None,
        strategies: Sequence[Sequence[str]] | None = None,
        together: Sequence[Mapping[str, str]] = (),
    ) -> Game:
        """Build a game whose utilities combine privacy with functionality or security.

        Parameters
        ----------
        parts
            Payoffs by part, such as ``{"privacy": ..., "functionality": ...}``; they are added. A
            part may be a game, whose names are then kept.
        weights
            What a unit of each part is worth; by default 1.
        players, strategies, together
            As for `Game`.
        """
        if not parts:
            raise ParameterError("a utility needs at least one part", do='give {"privacy": ...}')
        factors = _checked_weights(weights or {}, parts)
        named = next((part for part in parts.values() if isinstance(part, Game)), None)
        if named is not None:
            players, strategies = players or named.players, strategies or named.strategies
            together = together or named.together
        arrays = {}
        for name, part in parts.items():
            given = part.payoffs if isinstance(part, Game) else part
            array, found = payoff_array(given, strategies)
            arrays[name], strategies = factors[name] * array, strategies or found
            arrays[name].setflags(write=False)
        _check_same_shape(arrays)
        total = sum(arrays.values(), np.zeros(next(iter(arrays.values())).shape))
        game = cls(total, players=players, strategies=strategies, together=together)
        game.parts = arrays
        return game

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(own)) for own in self.strategies)
        return f"Game({len(self.players)} players, {sizes} strategies)"

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many strategies each player has."""
        return tuple(len(own) for own in self.strategies)

    # -- names ----------------------------------------------------------------------------------

    def player_index(self, player: str) -> int:
        """Return the position of a player."""
        if player not in self.players:
            raise ParameterError(f"no player {player!r}", do=nearest(str(player), self.players))
        return self.players.index(player)

    def strategy_index(self, player: str, strategy: str) -> int:
        """Return the position of a player's strategy."""
        own = self.strategies[self.player_index(player)]
        if strategy not in own:
            raise ParameterError(
                f"{player} has no strategy {strategy!r}", do=nearest(str(strategy), own)
            )
        return own.index(strategy)

    def index(self, profile: Profile) -> tuple[int, ...]:
        """Return the positions of a profile of strategies, to index `payoffs` with."""
        if isinstance(profile, Mapping):
            absent = [p for p in self.players if p not in profile]
            if absent:
                raise ParameterError("a profile needs a strategy of every player", got=profile)
            return tuple(self.strategy_index(p, profile[p]) for p in self.players)
        if len(profile) != len(self.players):
            raise ParameterError(
                "a profile needs one strategy per player",
                got=f"{len(profile)} for {len(self.players)} players",
            )
        return tuple(map(self.strategy_index, self.players, profile))

    def profile(self, index: Sequence[int]) -> dict[str, str]:
        """Return the names of the strategies at some positions."""
        chosen = (own[a] for own, a in zip(self.strategies, index, strict=True))
        return dict(zip(self.players, chosen, strict=True))

    def _partial(self, choice: Mapping[str, str]) -> dict[str, str]:
        if not choice:
            raise ParameterError("helping one another takes at least one choice", got="none")
        for player, strategy in choice.items():
            self.strategy_index(player, strategy)
        return dict(choice)

    # -- utilities ------------------------------------------------------------------------------

    def utilities(self, profile: Profile) -> dict[str, float]:
        """Return what a profile is worth to each player."""
        found = self.payoffs.reshape(len(self.players), -1)[:, self._cell(profile)]
        return dict(zip(self.players, found.tolist(), strict=True))

    def _cell(self, profile: Profile) -> int:
        return int(np.ravel_multi_index(self.index(profile), self.sizes))

    def only(self, part: str) -> Game:
        """Return the game in which one part of the utility is all that counts."""
        if part not in self.parts:
            raise ParameterError(
                f"the utilities of this game have no part {part!r}", do=nearest(part, self.parts)
            )
        names: dict[str, Any] = {"players": self.players, "strategies": self.strategies}
        game = Game(self.parts[part], **names, together=self.together)
        game.parts = {part: game.payoffs}
        return game

    @cached_property
    def slack(self) -> np.ndarray:
        """For each player the difference of payoffs below which two outcomes are equal."""
        flat = self.payoffs.reshape(len(self.players), -1)
        spread: np.ndarray = SLACK * (flat.max(axis=1) - flat.min(axis=1))
        return spread

    # -- moves ----------------------------------------------------------------------------------

    def moves(self, profile: Profile) -> list[Move]:
        """List what each player would gain by each other strategy, best first."""
        index = self.index(profile)
        found = [
            self._move(player, index, to)
            for player, size in enumerate(self.sizes)
            for to in range(size)
            if to != index[player]
        ]
        return sorted(found, key=lambda move: -move.gain)

    def _move(self, player: int, index: tuple[int, ...], to: int) -> Move:
        new = (*index[:player], to, *index[player + 1 :])
        parts = {
            name: float(part[(player, *new)] - part[(player, *index)])
            for name, part in self.parts.items()
        }
        own = self.strategies[player]
        gain = float(self.payoffs[(player, *new)] - self.payoffs[(player, *index)])
        return Move(self.players[player], own[index[player]], own[to], gain, parts)

    def is_profitable(self, move: Move) -> bool:
        """Tell whether a move gains more than rounding error."""
        return bool(move.gain > self.slack[self.player_index(move.player)])

    # -- solutions ------------------------------------------------------------------------------

    def equilibria(self) -> Equilibria:
        """Return all Nash equilibria in pure strategies, those of dominant strategies marked."""
        from tacit.coprivacy.equilibrium import pure_equilibria

        return pure_equilibria(self)

    def dominant_strategies(self) -> dict[str, dict[str, Dominance]]:
        """Return for each player the strategies that are best whatever the others do."""
        from tacit.coprivacy.equilibrium import dominance

        return {
            player: {own[a]: level for a, level in enumerate(dominance(self, i)) if level}
            for i, (player, own) in enumerate(zip(self.players, self.strategies, strict=True))
        }

    def mixed_equilibria(self, method: Literal["auto", "all", "some"] = "auto") -> MixedEquilibria:
        """Return Nash equilibria in mixed strategies; see `tacit.coprivacy.mixed_equilibria`."""
        from tacit.coprivacy.mixed import mixed_equilibria

        return mixed_equilibria(self, method)

    def correlated_equilibrium(
        self, objective: Objective = "welfare", *, epsilon: float = 0.0
    ) -> CorrelatedEquilibrium:
        """Return the best (epsilon-)correlated equilibrium; see `correlated_equilibrium`."""
        from tacit.coprivacy.correlated import correlated_equilibrium

        return correlated_equilibrium(self, objective, epsilon=epsilon)


# -- names -------------------------------------------------------------------------------------


def _player_names(players: Sequence[str] | None, n: int) -> tuple[str, ...]:
    names = tuple(f"P{i + 1}" for i in range(n)) if players is None else tuple(map(str, players))
    if len(names) != n or len(set(names)) != n:
        raise DataError(
            "the players need one name each, all different", got=names, do=f"give {n} names"
        )
    return names


def _strategy_names(
    strategies: Sequence[Sequence[str]] | None, sizes: Sequence[int], players: Sequence[str]
) -> Strategies:
    if strategies is None:
        return tuple(tuple(str(a + 1) for a in range(size)) for size in sizes)
    names = tuple(tuple(map(str, own)) for own in strategies)
    if len(names) != len(sizes):
        raise DataError(
            "strategies must be listed for every player", got=f"{len(names)} for {len(sizes)}"
        )
    for own, size, player in zip(names, sizes, players, strict=True):
        if len(own) != size or len(set(own)) != size:
            raise DataError(
                f"{player} needs {size} strategies with different names", got=", ".join(own)
            )
    return names


def _checked_weights(weights: Mapping[str, float], parts: Mapping[str, Any]) -> dict[str, float]:
    for name, weight in weights.items():
        if name not in parts:
            raise ParameterError(f"no part {name!r} of the utility", do=nearest(name, parts))
        if not isinstance(weight, int | float | np.number) or not 0 <= weight < np.inf:
            raise ParameterError("a weight must be a finite number, 0 or above", got=weight)
    return {name: float(weights.get(name, 1.0)) for name in parts}


def _check_same_shape(arrays: Mapping[str, np.ndarray]) -> None:
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) > 1:
        raise DataError("all parts of a utility need the same players and strategies", got=shapes)
