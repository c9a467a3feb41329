"""Who gains what: the incentives at a profile of strategies, in words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.coprivacy.correlated import chosen
from tacit.coprivacy.game import Game, Move, Profile


def explain(game: Game, profile: Profile) -> str:
    """Say for each player what leaving a profile would bring, and whether it is an equilibrium.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> dilemma = coprivacy.publication_game(2).game()
    >>> print(coprivacy.explain(dilemma, ["publish", "publish"]))
    Not an equilibrium: P1 and P2 would leave.
    P1 plays 'publish' for 0.5 and would gain 0.5 by 'hide'.
    P2 plays 'publish' for 0.5 and would gain 0.5 by 'hide'.
    """
    names = game.profile(game.index(profile))
    leaving = list(dict.fromkeys(m.player for m in game.moves(names) if game.is_profitable(m)))
    if leaving:
        head = f"Not an equilibrium: {_listed(leaving)} would leave."
    else:
        head = "An equilibrium: nobody gains by leaving."
    return "\n".join([head, *(sentence(game, names, player) for player in game.players)])


def sentence(game: Game, profile: Mapping[str, str], player: str) -> str:
    """Say what a player gets at a profile and what the best other strategy would bring."""
    worth = game.utilities(profile)[player]
    own = [move for move in game.moves(profile) if move.player == player]
    start = f"{player} plays {profile[player]!r} for {worth:.4g}"
    if not own:
        return f"{start} and has no other strategy."
    return f"{start} and {_outcome(game, own[0])}."


def _outcome(game: Game, move: Move) -> str:
    slack = float(game.slack[game.player_index(move.player)])
    parts = ", ".join(f"{name} {gain:+.4g}" for name, gain in move.parts.items())
    inside = f" ({parts})" if len(move.parts) > 1 else ""
    if move.gain > slack:
        return f"would gain {move.gain:.4g} by {move.to!r}{inside}"
    if move.gain < -slack:
        return f"would lose {-move.gain:.4g} by {move.to!r}, the best alternative{inside}"
    return f"would neither gain nor lose by {move.to!r}{inside}"


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) > 4:
        return f"{names[0]}, {names[1]} and {len(names) - 2} others"
    return f"{', '.join(names[:-1])} and {names[-1]}"


# -- profiles that hold a choice ---------------------------------------------------------------


def gains_by_leaving(game: Game) -> np.ndarray:
    """Return for each player and profile what the best other strategy would bring more."""
    gains = [own.max(axis=i, keepdims=True) - own for i, own in enumerate(game.payoffs)]
    return np.array(gains)


def steadiest_profile(game: Game, choice: Mapping[str, str]) -> dict[str, str]:
    """Return the profile with a choice in it that its players have least reason to leave."""
    where = chosen(game, choice)
    slack = game.slack.reshape(-1, *(1,) * len(game.sizes))
    worst = np.maximum(gains_by_leaving(game) - slack, 0.0).max(axis=0)
    masked = np.full(game.sizes, np.inf)
    masked[where] = worst[where]
    return game.profile(tuple(int(a) for a in np.unravel_index(masked.argmin(), masked.shape)))


def holds_whatever_others_do(game: Game, choice: Mapping[str, str]) -> bool:
    """Tell whether those who make a choice never gain by leaving it, whatever the others play."""
    where = chosen(game, choice)
    makers = [game.player_index(player) for player in choice]
    gains = gains_by_leaving(game)
    return all(bool((gains[i][where] <= game.slack[i]).all()) for i in makers)
