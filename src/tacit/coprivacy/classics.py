"""Worked games: the Prisoner's Dilemma and its relatives, publishing, using Tor.

All are games of equal players in which the number of those who help counts, so that they have any
number of players; `.game()` writes a small one out.
"""

from __future__ import annotations

import numpy as np

from tacit.coprivacy.counting import CountingGame
from tacit.core.errors import ParameterError


def prisoners_dilemma(
    *, reward: float = 2, temptation: float = 3, punishment: float = 1, sucker: float = 0
) -> CountingGame:
    """Return the Prisoner's Dilemma: betraying pays, yet silence is better for both.

    Parameters
    ----------
    reward, temptation, punishment, sucker
        Payoff if both keep silent, to one who betrays a silent partner, if both betray, to one who
        is betrayed; temptation > reward > punishment > sucker.
    """
    if not temptation > reward > punishment > sucker:
        raise ParameterError(
            "a Prisoner's Dilemma needs temptation > reward > punishment > sucker",
            got=(temptation, reward, punishment, sucker),
        )
    payoffs = np.array([[punishment, temptation], [sucker, reward]], dtype=float)
    return CountingGame(payoffs, ("betray", "silent"))


def pollution_game(n: int, *, control: float = 3.0, damage: float = 1.0) -> CountingGame:
    r"""Return the pollution game, the Prisoner's Dilemma of `n` countries.

    Parameters
    ----------
    n
        Number of countries.
    control
        What it costs a country to control its pollution.
    damage
        What each polluting country costs every country.

    Notes
    -----
    With cost 3 and damage 1, as in [tardos2007]_, not to control is strictly dominant and costs
    everybody :math:`n`, where control by all would cost 3.
    """
    n = _checked_n(n)
    _positive(control=control, damage=damage)
    clean_others = np.arange(n)
    pollute = -damage * (n - clean_others)
    control_too = -control - damage * (n - 1 - clean_others)
    return CountingGame(np.stack([pollute, control_too]), ("pollute", "control"))


def publication_game(n: int, *, sensitivity: float = 1.0) -> CountingGame:
    r"""Return the game of Example 2 for `n` users: hide or publish one attribute.

    Parameters
    ----------
    n
        Number of users of the social network.
    sensitivity
        Sensitivity :math:`\beta` of the attribute.

    Notes
    -----
    The utility is Expression (3) of [domingoferrer2011]_: :math:`\beta m / (1 + \beta v)`, where m
    others publish and v is 1 for a user who publishes, otherwise 0. To hide is weakly dominant: it
    is better as soon as anybody else publishes, and no worse when nobody does.
    """
    n = _checked_n(n)
    _positive(sensitivity=sensitivity)
    seen = sensitivity * np.arange(n)
    # Eq. (3) of domingoferrer2011
    return CountingGame(np.stack([seen, seen / (1 + sensitivity)]), ("hide", "publish"))


def relay_game(n: int, *, cost: float = 0.0) -> CountingGame:
    r"""Return a Tor-like game: communicate directly, or relay one another's messages.

    Parameters
    ----------
    n
        Number of users.
    cost
        What using the relays costs in speed, in bits of anonymity.

    Notes
    -----
    A user among m other relaying users is one of m + 1 possible senders, which is worth
    :math:`\log_2(m + 1)` bits, less the cost; direct communication is worth 0. Each new user adds
    to the anonymity of all others (Example 1 of [domingoferrer2011]_): relaying by all is an
    equilibrium, and the best outcome. Nobody relaying is one too: somebody must start.
    """
    n = _checked_n(n)
    if not (np.isfinite(cost) and cost >= 0):
        raise ParameterError("the cost must be a number, 0 or above", got=cost)
    relayed = np.log2(1.0 + np.arange(n)) - cost
    return CountingGame(np.stack([np.zeros(n), relayed]), ("direct", "relay"))


def _checked_n(n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise ParameterError("a game among users needs at least two of them", got=repr(n))
    return int(n)


def _positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if not (np.isfinite(number) and number > 0):
            raise ParameterError(f"{name} must be a number above 0", got=number)
