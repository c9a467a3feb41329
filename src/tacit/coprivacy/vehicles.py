"""Cars that announce road conditions to one another (COP, Section 6): a worked game."""

from __future__ import annotations

import numpy as np

from tacit.coprivacy._payoffs import check_size
from tacit.coprivacy.game import Game
from tacit.core.errors import ParameterError

SILENT, ANNOUNCE = "silent", "announce"


def announcement_game(
    n_cars: int,
    *,
    threshold: int = 3,
    value: float = 1.0,
    exposure: float = 2.0,
    anonymity: float = 1.0,
) -> Game:
    r"""Build the game of cars that see an icy road and may announce it.

    Parameters
    ----------
    n_cars
        Number of cars nearby.
    threshold
        How many cars must announce the same before it is believed: the a priori security, which
        cannot be traded off.
    value
        What a believed announcement is worth to everybody (functionality).
    exposure
        What it costs a car to be identified and located (privacy).
    anonymity
        How much privacy the cars grant one another, from 0 (announcements are signed by name) to 1
        (all announcers are alike).

    Notes
    -----
    Of m cars that announce each is identified with probability :math:`1 - a + a / m`, where a is
    the anonymity granted: the more announce, the more private they stay. Exactly `threshold` cars
    that announce are an equilibrium if :math:`v \ge e (1 - a + a / t)`: the more privacy cars allow
    one another, the more announcements they can expect. With privacy alone silence is best: the
    game is generally coprivate, not coprivate.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> game = coprivacy.announcement_game(5, threshold=3, value=1, exposure=2)
    >>> bool(coprivacy.coprivacy(game)), bool(coprivacy.general_coprivacy(game))
    (False, True)
    """
    _check(n_cars, threshold, value, exposure, anonymity)
    check_size([2] * n_cars)
    announces = np.indices((2,) * n_cars)
    m = announces.sum(axis=0)
    identified = 1 - anonymity + anonymity / np.maximum(m, 1)
    warned = np.broadcast_to(value * (m >= threshold), announces.shape)
    return Game.of_parts(
        {"privacy": -exposure * identified * announces, "functionality": warned},
        players=[f"car {i + 1}" for i in range(n_cars)],
        strategies=[[SILENT, ANNOUNCE]] * n_cars,
        together=[{f"car {i + 1}": ANNOUNCE for i in range(threshold)}],
    )


def _check(n_cars: int, threshold: int, value: float, exposure: float, anonymity: float) -> None:
    if n_cars < 2 or not 1 <= threshold <= n_cars:
        raise ParameterError(
            "there must be two cars or more, and as many as are needed to be believed",
            got=f"{n_cars} cars, threshold {threshold}",
        )
    if not (np.isfinite([value, exposure]).all() and value >= 0 and exposure >= 0):
        raise ParameterError("value and exposure must be 0 or above", got=(value, exposure))
    if not 0 <= anonymity <= 1:
        raise ParameterError("anonymity must be from 0 to 1", got=anonymity)
