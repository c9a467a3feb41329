"""Is it coprivate? The definitions of the paper as checks, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.coprivacy.bounded import Bounds, bounded_equilibria
from tacit.coprivacy.correlated import correlated_equilibrium
from tacit.coprivacy.explanation import (
    explain,
    holds_whatever_others_do,
    sentence,
    steadiest_profile,
)
from tacit.coprivacy.game import Game
from tacit.core.errors import DataError, ParameterError

PRIVACY = "privacy"
_POSITIVE = 1e-7
"""A probability below this is zero but for rounding."""
_LEVEL = 0.95


@dataclass(frozen=True)
class Case:
    """One way of helping one another, and whether it is in everybody's interest."""

    together: Mapping[str, str]
    """The choices looked at."""
    holds: bool
    """Whether they are part of an equilibrium."""
    reason: str
    """Who gains what."""
    probability: float = float("nan")
    """How likely the choices are in the equilibrium that makes them most likely."""
    whatever_others_do: bool = False
    """Whether they hold whatever the players do who take no part in them."""


@dataclass(frozen=True)
class Verdict:
    """Whether a game is coprivate in some sense, with the reasons."""

    kind: str
    """Which definition was checked."""
    holds: bool
    """Whether it is met."""
    cases: tuple[Case, ...] = ()
    """Every way of helping that was looked at."""
    probability: float = float("nan")
    """Of delta-coprivacy: the probability that a game is coprivate."""
    interval: tuple[float, float] | None = None
    """Of delta-coprivacy: a 95 percent confidence interval, where the games are a sample."""
    note: str = ""
    """What else there is to say."""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        head = f"{self.kind}: {'yes' if self.holds else 'no'}"
        reasons = [case.reason for case in self.cases]
        return "\n".join(filter(None, [head, self.note, *reasons]))

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as plain data."""
        cases = [
            {"together": dict(case.together), "holds": case.holds, "reason": case.reason,
             "probability": None if np.isnan(case.probability) else case.probability}
            for case in self.cases
        ]  # fmt: skip
        return {"kind": self.kind, "holds": self.holds, "cases": cases, "note": self.note}


# -- Definition 1 ------------------------------------------------------------------------------


def coprivacy(game: Game, together: Sequence[Mapping[str, str]] | None = None) -> Verdict:
    r"""Check whether helping one another is an equilibrium when only privacy counts.

    Parameters
    ----------
    game
        A game; if its utilities have parts, the part ``privacy`` is used.
    together
        What counts as helping one another; by default what the game says.

    Notes
    -----
    Definition 1 of [domingoferrer2011]_: for some k, asking k and k's helping are a pure Nash
    equilibrium between the two. Read here as: there is a pure equilibrium of the whole game with
    these choices in it. `Case.whatever_others_do` tells whether the two would stay with them
    whatever the other players do, which is more.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> print(coprivacy.coprivacy(coprivacy.request_game(0, {"P2": (1, 0.5)})))
    coprivacy: yes
    P1 plays 'ask P2' for 1 and would lose 1 by 'ask the system', the best alternative.
    P2 plays 'help' for 0.5 and would lose 0.5 by 'reject', the best alternative.
    """
    return _pure_verdict("coprivacy", _privacy_game(game), together)


def general_coprivacy(game: Game, together: Sequence[Mapping[str, str]] | None = None) -> Verdict:
    """Check whether helping is an equilibrium when functionality and security count as well.

    Parameters
    ----------
    game
        A game whose payoffs combine privacy with functionality or security; see `Game.of_parts`.
    together
        What counts as helping one another; by default what the game says.
    """
    return _pure_verdict("general coprivacy", game, together)


def _pure_verdict(kind: str, game: Game, together: Sequence[Mapping[str, str]] | None) -> Verdict:
    cases = tuple(_pure_case(game, choice) for choice in _choices(game, together))
    return Verdict(kind, any(case.holds for case in cases), cases)


def _pure_case(game: Game, choice: Mapping[str, str]) -> Case:
    profile = steadiest_profile(game, choice)
    holds = not any(game.is_profitable(move) for move in game.moves(profile))
    if holds:
        reason = "\n".join(sentence(game, profile, player) for player in choice)
    else:
        reason = explain(game, profile)
    return Case(choice, holds, reason, float(holds), holds_whatever_others_do(game, choice))


# -- Definition 2 ------------------------------------------------------------------------------


def delta_coprivacy(
    games: Iterable[Game],
    delta: float,
    *,
    weights: Sequence[float] | None = None,
    definition: Callable[[Game], Verdict] = coprivacy,
) -> Verdict:
    """Check whether a random game is coprivate with probability at least `delta`.

    Parameters
    ----------
    games
        A sample of the situations that players find themselves in; or all of them, with `weights`.
    delta
        The probability asked for, from 0 to 1.
    weights
        How likely each game is, where `games` are all there are.
    definition
        The definition to check in each game: `coprivacy`, `general_coprivacy`, or a function that
        calls `mixed_coprivacy` or `correlated_coprivacy` with its options.

    Notes
    -----
    Definition 2 of [domingoferrer2011]_. For a sample the estimate decides, and the exact binomial
    interval says how far it can be trusted.
    """
    if not 0 <= delta <= 1:
        raise ParameterError("delta must be from 0 to 1", got=delta)
    found = np.array([bool(definition(game)) for game in games], dtype=float)
    if not len(found):
        raise DataError("delta-coprivacy needs at least one game", got="none")
    share = _share(found, weights)
    interval = _interval(int(found.sum()), len(found)) if weights is None else None
    counted = f"{int(found.sum()):,} of {len(found):,} games are coprivate"
    note = f"{counted}: probability {share:.4g}, asked for {delta:g}"
    if interval is not None:
        note += f", 95 % interval {interval[0]:.4g} to {interval[1]:.4g}"
    return Verdict(f"{delta:g}-coprivacy", share >= delta, (), share, interval, note)


def _share(found: np.ndarray, weights: Sequence[float] | None) -> float:
    if weights is None:
        return float(found.mean())
    w = np.asarray(weights, dtype=float)
    if w.shape != found.shape or not np.isfinite(w).all() or w.min() < 0 or w.sum() <= 0:
        raise DataError("each game needs one weight, 0 or above", got=f"{w.size} weights")
    return float(found @ w / w.sum())


def _interval(successes: int, n: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson."""
    from scipy.stats import beta

    tail = (1 - _LEVEL) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes == n else float(beta.ppf(1 - tail, successes + 1, n - successes))
    return low, high


# -- extensions --------------------------------------------------------------------------------


def mixed_coprivacy(
    game: Game,
    together: Sequence[Mapping[str, str]] | None = None,
    *,
    at_least: float = 0.0,
    bounds: Bounds | None = None,
    general: bool = False,
) -> Verdict:
    """Check whether helping has positive probability in some mixed equilibrium.

    Parameters
    ----------
    game
        The game.
    together
        What counts as helping one another; by default what the game says.
    at_least
        How likely helping must be.
    bounds
        The mixtures that players can or may choose: for some players, for some strategies, the
        smallest and largest probability.
    general
        Whether all parts of the utilities count, or privacy only.

    Notes
    -----
    The paper calls every finite game mixedly coprivate because it has a mixed equilibrium; an
    equilibrium in which nobody ever helps would then do. Here helping must have a positive
    probability in it, or the one asked for. Players with bounds choose from a polytope; the game
    between its corner points is finite, so there is an equilibrium within the bounds too.
    """
    used = game if general else _privacy_game(game)
    choices = _choices(used, together)
    equilibria = bounded_equilibria(used, bounds or {})
    cases = []
    for choice in choices:
        best = max(equilibria, key=lambda e, c=choice: e.probability(c))  # type: ignore[misc]
        chance = best.probability(choice)
        worth = ", ".join(f"{p} {u:.4g}" for p, u in best.payoffs.items())
        reason = f"{_named(choice)}: probability {chance:.4g} at most; expected {worth}."
        cases.append(Case(choice, chance > max(at_least - _POSITIVE, _POSITIVE), reason, chance))
    kind = "mixed general coprivacy" if general else "mixed coprivacy"
    note = "" if equilibria.is_complete else "Not all mixed equilibria may have been found."
    return Verdict(kind, any(case.holds for case in cases), tuple(cases), note=note)


def correlated_coprivacy(
    game: Game,
    together: Sequence[Mapping[str, str]] | None = None,
    *,
    epsilon: float = 0.0,
    at_least: float = 0.0,
    general: bool = False,
) -> Verdict:
    """Check whether advice that everybody does well to follow can make players help.

    Parameters
    ----------
    game
        The game.
    together
        What counts as helping one another; by default what the game says.
    epsilon
        The most that a player may expect to gain by departing from the advice.
    at_least
        How likely helping must be.
    general
        Whether all parts of the utilities count, or privacy only.
    """
    used = game if general else _privacy_game(game)
    cases = []
    for choice in _choices(used, together):
        best = correlated_equilibrium(used, choice, epsilon=epsilon)
        chance = best.probability(choice)
        worth = ", ".join(f"{p} {u:.4g}" for p, u in best.payoffs.items())
        reason = (
            f"{_named(choice)}: probability {chance:.4g} at most; expected {worth}; nobody expects "
            f"to gain more than {best.epsilon:.4g} by departing from the advice."
        )
        cases.append(Case(choice, chance > max(at_least - _POSITIVE, _POSITIVE), reason, chance))
    kind = (
        f"{f'{epsilon:g}-' if epsilon else ''}correlated{' general' if general else ''} coprivacy"
    )
    return Verdict(kind, any(case.holds for case in cases), tuple(cases))


def _privacy_game(game: Game) -> Game:
    return game.only(PRIVACY) if game.parts else game


def _choices(
    game: Game, together: Sequence[Mapping[str, str]] | None
) -> Sequence[Mapping[str, str]]:
    choices = game.together if together is None else tuple(together)
    if not choices:
        raise ParameterError(
            "nothing says what helping one another is in this game",
            do='give together=[{"P1": "ask P2", "P2": "help"}], with your players and strategies',
        )
    for choice in choices:
        for player, strategy in choice.items():
            game.strategy_index(player, strategy)
    return choices


def _named(choice: Mapping[str, str]) -> str:
    return ", ".join(f"{player} {strategy!r}" for player, strategy in choice.items())
