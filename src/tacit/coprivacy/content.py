"""Content passed on with a mark: controlled distribution and digital oblivion (COP, Section 7)."""

from __future__ import annotations

import numpy as np

from tacit.coprivacy.game import Game
from tacit.coprivacy.request import request_game
from tacit.core.errors import ParameterError

SOURCE = "source"
MARK, STRIP = "mark and forward", "forward without the mark"


def multicast_game(
    n_receivers: int = 3,
    *,
    tracing: float = 0.9,
    gain: float = 0.3,
    effort: float = 0.1,
    sending: float = 0.4,
) -> Game:
    """Build the game of content that receivers mark with a fingerprint and pass on.

    Parameters
    ----------
    n_receivers
        Number of receivers, one of whom may be asked to serve the others.
    tracing
        Probability that a receiver who passes on unmarked content is traced, and no longer
        anonymous.
    gain
        What passing on unmarked content is worth to the receiver.
    effort
        What marking costs the receiver.
    sending
        What sending one copy costs the source.

    Notes
    -----
    The source asks for security: every copy stays traceable. Honest receivers stay anonymous. A
    receiver marks if and only if `tracing` is at least `gain` + `effort`: the fear of losing her
    own privacy makes her serve the source [domingoferrer2011]_.
    """
    return _content_game("security", n_receivers, tracing, gain, effort, sending)


def oblivion_game(
    n_receivers: int = 3,
    *,
    tracing: float = 0.9,
    gain: float = 0.3,
    effort: float = 0.1,
    sending: float = 0.4,
) -> Game:
    """Build the game of content that is marked with the date on which it must be forgotten.

    Parameters
    ----------
    n_receivers, tracing, gain, effort, sending
        As for `multicast_game`.

    Notes
    -----
    Here the source's own privacy is at stake: unmarked content is never forgotten. Receivers who
    pass it on unmarked are traced. When only privacy counts, marking is strictly best for any
    `tracing` above 0, and the game is coprivate.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> bool(coprivacy.coprivacy(coprivacy.oblivion_game(tracing=0.2)))
    True
    >>> bool(coprivacy.general_coprivacy(coprivacy.oblivion_game(tracing=0.2)))
    False
    """
    return _content_game("privacy", n_receivers, tracing, gain, effort, sending)


def _content_game(
    interest: str, n_receivers: int, tracing: float, gain: float, effort: float, sending: float
) -> Game:
    """Combine what the source wants (her interest), receivers' anonymity, and costs."""
    _check(n_receivers, tracing, gain, effort, sending)
    names = [f"receiver {i + 1}" for i in range(n_receivers)]
    wanted = _asked(names, direct=1.0, marked=(1.0, 0.0), stripped=(0.0, 0.0))
    anonymous = _asked(names, direct=0.0, marked=(0.0, 1.0), stripped=(0.0, 1.0 - tracing))
    costs = _asked(
        names, direct=-sending * n_receivers, marked=(-sending, -effort), stripped=(-sending, gain)
    )
    if interest == "privacy":
        both = wanted.payoffs + anonymous.payoffs
        return Game.of_parts({"privacy": _like(wanted, both), "functionality": costs})
    return Game.of_parts({"privacy": anonymous, interest: wanted, "functionality": costs})


def _asked(
    names: list[str], *, direct: float, marked: tuple[float, float], stripped: tuple[float, float]
) -> Game:
    helped, refused = dict.fromkeys(names, marked), dict.fromkeys(names, stripped)
    return request_game(direct, helped, refused, requester=SOURCE, answers=(MARK, STRIP))


def _like(game: Game, payoffs: np.ndarray) -> Game:
    return Game(payoffs, players=game.players, strategies=game.strategies, together=game.together)


def _check(n_receivers: int, tracing: float, *costs: float) -> None:
    if n_receivers < 1:
        raise ParameterError("there must be a receiver", got=n_receivers)
    if not 0 <= tracing <= 1:
        raise ParameterError("tracing must be a probability", got=tracing)
    if not (np.isfinite(costs).all() and min(costs) >= 0):
        raise ParameterError("gain, effort and sending must be 0 or above", got=costs)
