"""Nash equilibria in mixed strategies: players who leave their choice to chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.coprivacy.game import Game
from tacit.core.errors import DataError, ParameterError
from tacit.core.progress import track

Mixture = tuple[np.ndarray, ...]
"""For each player the probabilities of the strategies."""
GAP = 1e-7
"""Largest gain by leaving, as a share of a player's range of payoffs, in what is returned."""
_PAIRS = 16_384
"""Most pairs of supports of games whose equilibria are all listed by default."""
_PATHS = 40
"""Most paths of Lemke and Howson that are followed."""
_SAME = 1e-6


@dataclass(frozen=True)
class MixedEquilibrium:
    """Probabilities that no single player gains by changing."""

    probabilities: Mapping[str, Mapping[str, float]]
    """For each player the probability of each strategy."""
    payoffs: Mapping[str, float]
    """What each player expects."""
    largest_gain: float
    """The most that any player would gain by any other strategy: zero but for rounding."""

    @property
    def is_pure(self) -> bool:
        """Whether nobody leaves anything to chance."""
        return all(max(own.values()) > 1 - _SAME for own in self.probabilities.values())

    def probability(self, choice: Mapping[str, str]) -> float:
        """Return the probability that some players choose some strategies."""
        return float(np.prod([self.probabilities[p][s] for p, s in choice.items()]))

    def as_dict(self) -> dict[str, Any]:
        """Return the equilibrium as plain data."""
        return {
            "probabilities": {p: dict(own) for p, own in self.probabilities.items()},
            "payoffs": dict(self.payoffs),
            "is_pure": self.is_pure,
        }


@dataclass(frozen=True)
class MixedEquilibria(Sequence[MixedEquilibrium]):
    """Equilibria in mixed strategies, pure ones included."""

    found: tuple[MixedEquilibrium, ...]
    """The equilibria."""
    is_complete: bool
    """Whether all are here; where there is a continuum of them, its corner points."""
    method: str
    """How they were found."""

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, item: Any) -> Any:
        return self.found[item]

    def __iter__(self) -> Iterator[MixedEquilibrium]:
        return iter(self.found)

    def __str__(self) -> str:
        lines = [" ; ".join(map(_shown, e.probabilities.items())) for e in self.found]
        return "\n".join([*lines, "" if self.is_complete else "(there may be more)"]).rstrip()


def _shown(item: tuple[str, Mapping[str, float]]) -> str:
    player, own = item
    chosen = ", ".join(f"{s} {p:.4g}" for s, p in own.items() if p > _SAME)
    return f"{player}: {chosen}"


def mixed_equilibria(
    game: Game, method: Literal["auto", "all", "some"] = "auto"
) -> MixedEquilibria:
    r"""Find Nash equilibria in mixed strategies.

    Parameters
    ----------
    game
        The game.
    method
        ``all`` lists every equilibrium of a two-player game; ``some`` follows a path from each
        strategy (Lemke and Howson), which is quick and finds at least one; ``auto`` takes ``all``
        where that is affordable.

    Notes
    -----
    Two players: all pairs of corner points of the best-response polytopes that leave nobody a
    reason to move, or the paths of [lemke1964]_. Where equilibria form a continuum, its corner
    points are returned; any equilibrium is a mixture of them. Checked against nashpy [knight2018]_
    where that finds them all. More players: the conditions of indifference are polynomials; every
    combination of supports is tried from several starting points by Newton's method, and what is
    found is checked, but there may be more (`is_complete` is False). Whatever the method, only
    profiles are returned from which nobody gains by leaving. By the theorem of [nash1951]_ there
    always is one.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> pennies = coprivacy.Game([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> print(pennies.mixed_equilibria())
    P1: 1 0.5, 2 0.5 ; P2: 1 0.5, 2 0.5
    """
    if method not in ("auto", "all", "some"):
        raise ParameterError("method must be auto, all or some", got=method)
    if len(game.players) == 2:
        candidates, is_complete, name = _two_players(game, method)
    elif len(game.players) == 1:
        candidates, is_complete, name = [], True, "best strategies"
    else:
        candidates, is_complete, name = _many_players(game, method)
    kept = _checked(game, [*_pure(game), *candidates])
    if not kept:
        raise DataError("no equilibrium was found", do="rescale the payoffs or simplify the game")
    return MixedEquilibria(tuple(_described(game, mix) for mix in kept), is_complete, name)


def _pure(game: Game) -> Iterator[Mixture]:
    for profile in game.equilibria().profiles:
        index = game.index(profile)
        yield tuple(np.eye(size)[a] for size, a in zip(game.sizes, index, strict=True))


def _two_players(game: Game, method: str) -> tuple[list[Mixture], bool, str]:
    n_pairs = 2 ** sum(game.sizes)
    wants_all = method == "all" or (method == "auto" and n_pairs <= _PAIRS)
    if wants_all and n_pairs > 64 * _PAIRS:
        raise ParameterError(
            "there are too many pairs of supports to try all",
            got=f"{game.sizes[0]} x {game.sizes[1]} strategies",
            do='use method="some"',
        )
    if not wants_all:
        return list(_paths(game)), False, "Lemke-Howson"
    from tacit.coprivacy._corner_points import corner_equilibria

    return list(corner_equilibria(_scaled(game))), True, "corner points"


def _paths(game: Game) -> Iterator[Mixture]:
    from tacit.coprivacy._lemke_howson import equilibrium_from

    scaled, n_labels = _scaled(game), min(sum(game.sizes), _PATHS)
    with track("following paths", n_labels) as advance:
        for label in range(n_labels):
            found = equilibrium_from(scaled, label)
            advance(1)
            if found is not None:
                yield found


def _scaled(game: Game) -> np.ndarray:
    """Bring payoffs between 0 and 1: equilibria stay, tolerances get a meaning."""
    flat = game.payoffs.reshape(len(game.players), -1)
    low, spread = flat.min(axis=1), np.ptp(flat, axis=1)
    shape = (-1,) + (1,) * len(game.sizes)
    scale = np.where(spread > 0, spread, 1.0).reshape(shape)
    scaled: np.ndarray = (game.payoffs - low.reshape(shape)) / scale
    return scaled


def _many_players(game: Game, method: str) -> tuple[list[Mixture], bool, str]:
    from tacit.coprivacy._indifference import indifferent_mixtures

    if method == "all":
        raise ParameterError(
            "all mixed equilibria can be listed for two players only",
            got=f"{len(game.players)} players",
            do='use method="some", which returns those it finds',
        )
    return indifferent_mixtures(_scaled(game)), False, "indifference on each support"


# -- what holds --------------------------------------------------------------------------------


def expected_payoffs(payoffs: np.ndarray, mixture: Mixture, player: int) -> np.ndarray:
    """Return what each strategy of a player is worth against the others' mixtures."""
    worth: np.ndarray = payoffs[player]
    for other in reversed(range(len(mixture))):
        if other != player:
            worth = np.tensordot(worth, mixture[other], axes=([other], [0]))
    return worth


def largest_gain(payoffs: np.ndarray, mixture: Mixture) -> float:
    """Return the most that any player gains by leaving the mixture for a pure strategy."""
    gains = []
    for player, own in enumerate(mixture):
        worth = expected_payoffs(payoffs, mixture, player)
        gains.append(float(worth.max() - worth @ own))
    return max(gains)


def _checked(game: Game, candidates: Iterable[Mixture]) -> list[Mixture]:
    """Keep what is an equilibrium, once each."""
    scaled, kept = _scaled(game), list[Mixture]()
    for mixture in candidates:
        clean = _normalised(mixture)
        if clean is None or largest_gain(scaled, clean) > GAP:
            continue
        flat = np.concatenate(clean)
        if all(np.abs(np.concatenate(other) - flat).max() > _SAME for other in kept):
            kept.append(clean)
    return kept


def _normalised(mixture: Mixture) -> Mixture | None:
    if any(not np.isfinite(own).all() or own.min() < -_SAME for own in mixture):
        return None
    clipped = [np.clip(own, 0.0, None) for own in mixture]
    if any(own.sum() <= 0 for own in clipped):
        return None
    return tuple(own / own.sum() for own in clipped)


def _described(game: Game, mixture: Mixture) -> MixedEquilibrium:
    named = zip(game.players, game.strategies, mixture, strict=True)
    chances = {p: dict(zip(own, q.tolist(), strict=True)) for p, own, q in named}
    worth = [expected_payoffs(game.payoffs, mixture, i) @ q for i, q in enumerate(mixture)]
    payoffs = {p: float(u) for p, u in zip(game.players, worth, strict=True)}
    return MixedEquilibrium(chances, payoffs, largest_gain(game.payoffs, mixture))
