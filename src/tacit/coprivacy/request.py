"""The game of Definition 1: one peer needs a request processed and may ask another peer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.coprivacy._payoffs import check_size
from tacit.coprivacy.game import Game
from tacit.core.errors import ParameterError, nearest

DIRECT = "ask the system"
HELP, REJECT = "help", "reject"
Pair = tuple[float, float]
"""What an outcome is worth to the peer who asks, and to the peer who is asked."""


def request_game(
    direct: float,
    helped: Mapping[str, Pair],
    refused: Mapping[str, Pair] | None = None,
    *,
    requester: str = "P1",
    answers: tuple[str, str] = (HELP, REJECT),
) -> Game:
    r"""Build the game of Definition 1 of coprivacy.

    Parameters
    ----------
    direct
        What it is worth to the requester to go to the system herself.
    helped
        For each other peer, what asking that peer and being helped is worth to the requester, and
        to the peer.
    refused
        The same where the peer rejects the request; by default the requester then goes to the
        system after all, and the peer gets 0.
    requester
        Name of the peer who needs help.
    answers
        What helping and rejecting are called.

    Notes
    -----
    The requester :math:`P^1` chooses whom to ask: the system :math:`P^0`, which always complies, or
    a peer; each peer helps or rejects [domingoferrer2011]_. Peers who are not asked get 0. The
    choices of asking k and k's helping count as helping one another.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> game = coprivacy.request_game(0, {"P2": (1, 0.5), "P3": (2, -1)})
    >>> print(coprivacy.coprivacy(game).holds)
    True
    """
    peers = _checked_peers(helped, requester)
    declined = {peer: (direct, 0.0) for peer in peers} | dict(refused or {})
    for peer in declined:
        if peer not in peers:
            raise ParameterError(f"no peer {peer!r} who may help", do=nearest(peer, peers))
    sizes = (len(peers) + 1, *(2 for _ in peers))
    check_size(sizes)
    payoffs = np.zeros((len(sizes), *sizes))
    payoffs[0, 0] = direct
    for k, peer in enumerate(peers, start=1):
        for answer, table in enumerate((helped, declined)):
            asked = np.moveaxis(payoffs[:, k], k, 0)  # a view, the asked peer's answer first
            asked[answer, 0], asked[answer, k] = _pair(table[peer], peer)
    return Game(
        payoffs,
        players=(requester, *peers),
        strategies=[[DIRECT, *(f"ask {peer}" for peer in peers)], *(answers for _ in peers)],
        together=[{requester: f"ask {peer}", peer: answers[0]} for peer in peers],
    )


def _checked_peers(helped: Mapping[str, Pair], requester: str) -> list[str]:
    peers = [str(peer) for peer in helped]
    if not peers:
        raise ParameterError("there must be somebody to ask", got="no peer")
    if requester in peers:
        raise ParameterError("a peer cannot ask herself", got=requester)
    return peers


def _pair(values: Pair, peer: str) -> Pair:
    try:
        first, second = (float(v) for v in values)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"asking {peer!r} needs two payoffs, the requester's and the peer's", got=values
        ) from error
    return first, second
