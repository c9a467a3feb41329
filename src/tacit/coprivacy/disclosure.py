"""Disclosing attributes to contacts: selfish play, tit-for-tat, reputation (COP, Section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.coprivacy.network import Network
from tacit.core.errors import DataError, ParameterError

Protocol = Literal["independent", "tit-for-tat", "reputation"]


@dataclass(frozen=True, eq=False)
class DisclosureResult:
    """How much is disclosed and what it is worth, round by round."""

    disclosed: np.ndarray
    """For each round the share of all that could be disclosed, weighted by sensitivity."""
    utility: np.ndarray
    """For each round and user the score PRF."""
    is_free_rider: np.ndarray
    """Which users never disclose anything."""

    @property
    def has_collapsed(self) -> bool:
        """Whether nobody discloses anything any more."""
        return bool(self.disclosed[-1] == 0)

    @property
    def mean_utility(self) -> np.ndarray:
        """For each round the mean score of the users who are no free riders."""
        mean: np.ndarray = self.utility[:, ~self.is_free_rider].mean(axis=1)
        return mean

    @property
    def free_rider_utility(self) -> np.ndarray:
        """For each round the mean score of free riders; NaN without any."""
        if not self.is_free_rider.any():
            return np.full(len(self.utility), np.nan)
        mean: np.ndarray = self.utility[:, self.is_free_rider].mean(axis=1)
        return mean


@dataclass(frozen=True, eq=False)
class _Links:
    """Every link in both directions; `back` is the same link the other way round."""

    source: np.ndarray
    target: np.ndarray
    back: np.ndarray

    @classmethod
    def of(cls, network: Network) -> _Links:
        a, b = network.links.T
        n = len(a)
        back = np.concatenate([np.arange(n, 2 * n), np.arange(n)])
        return cls(np.concatenate([a, b]), np.concatenate([b, a]), back)


def simulate_disclosure(
    network: Network,
    sensitivity: np.ndarray,
    protocol: Protocol,
    *,
    rounds: int = 30,
    free_riders: float = 0.0,
    memory: int = 3,
    seed: int | None = None,
) -> DisclosureResult:
    r"""Let the users of a network decide, round by round, what to disclose to their contacts.

    Parameters
    ----------
    network
        Who has contact with whom.
    sensitivity
        Sensitivity of each attribute; attributes are disclosed from the least sensitive on.
    protocol
        ``independent``: all start open, and in each round half of the users do what is best for
        themselves, which is the dominant strategy: they disclose nothing where that is no worse.
        ``tit-for-tat``: a user offers the least sensitive attribute, and one more whenever the
        contact has matched what she disclosed; otherwise she discloses what she got.
        ``reputation``: everything is disclosed to contacts of good standing, that is who disclosed
        to at least half of their own contacts of good standing within `memory` rounds.
    rounds
        Number of rounds.
    free_riders
        Share of users who never disclose.
    memory
        How many rounds a reputation looks back.
    seed
        Makes the simulation repeatable.

    Notes
    -----
    The utility is PRF with one distance, direct contacts; the visibility of an attribute is the
    share of her contacts to whom the user disclosed it.
    """
    weights = np.sort(np.asarray(sensitivity, dtype=float))
    if weights.ndim != 1 or not len(weights) or not np.isfinite(weights).all() or weights[0] < 0:
        raise DataError("sensitivities must be finite numbers, 0 or above", got=sensitivity)
    if rounds < 1 or memory < 1 or not 0 <= free_riders < 1:
        raise ParameterError(
            "rounds and memory must be 1 or more, and free riders a share below 1",
            got=f"{rounds} rounds, memory {memory}, free riders {free_riders}",
        )
    if not len(network.links):
        raise DataError("the network has no links", got=f"{network.n_users} users")
    rng = np.random.default_rng(seed)
    rides = np.zeros(network.n_users, dtype=bool)
    rides[rng.permutation(network.n_users)[: round(free_riders * network.n_users)]] = True
    worth = np.concatenate([[0.0], np.cumsum(weights)])
    play = _play(protocol, _Links.of(network), worth, rides, memory, rng)
    return _played(network, worth, rides, play, rounds)


Play = Callable[[np.ndarray | None], np.ndarray]
"""From the levels of the last round on every directed link to those of this round."""


def _play(
    protocol: Protocol,
    links: _Links,
    worth: np.ndarray,
    rides: np.ndarray,
    memory: int,
    rng: np.random.Generator,
) -> Play:
    if protocol == "independent":
        return _independent(links, worth, rides, rng)
    if protocol == "tit-for-tat":
        return _tit_for_tat(links, len(worth) - 1, rides)
    if protocol == "reputation":
        return _reputation(links, len(worth) - 1, rides, memory)
    raise ParameterError(
        "no such protocol", got=protocol, do="use independent, tit-for-tat or reputation"
    )


def _played(
    network: Network, worth: np.ndarray, rides: np.ndarray, play: Play, rounds: int
) -> DisclosureResult:
    links, levels = _Links.of(network), None
    utility, disclosed = np.empty((rounds, network.n_users)), np.empty(rounds)
    for t in range(rounds):
        levels = play(levels)
        utility[t] = _scores(links, worth[levels], network.degrees)
        disclosed[t] = worth[levels].mean() / max(worth[-1], 1e-300)
    return DisclosureResult(disclosed, utility, rides)


def _scores(links: _Links, given: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return PRF at distance one from the sensitivity disclosed on every directed link."""
    n = len(degrees)
    got = np.bincount(links.target, given, n)
    risk = np.bincount(links.source, given, n) / np.maximum(degrees, 1)
    score: np.ndarray = got / (1 + risk)
    return score


# -- protocols ---------------------------------------------------------------------------------


def _independent(
    links: _Links, worth: np.ndarray, rides: np.ndarray, rng: np.random.Generator
) -> Play:
    """Let half of the users choose what is best for themselves; of equals, the least disclosure."""

    def play(levels: np.ndarray | None) -> np.ndarray:
        if levels is None:
            return np.where(rides[links.source], 0, len(worth) - 1)
        own = np.zeros(len(rides), dtype=np.int64)
        own[links.source] = levels
        got = np.bincount(links.target, worth[levels], len(rides))
        scores = got[:, None] / (1 + worth)
        revises = rng.random(len(own)) < 0.5
        chosen: np.ndarray = np.where(revises, scores.argmax(axis=1), own)[links.source]
        return chosen

    return play


def _tit_for_tat(links: _Links, top: int, rides: np.ndarray) -> Play:
    def play(levels: np.ndarray | None) -> np.ndarray:
        if levels is None:
            return np.where(rides[links.source], 0, 1)
        received = levels[links.back]
        is_matched = (received >= levels) & (received > 0)
        offer = np.where(is_matched, np.minimum(received + 1, top), received)
        chosen: np.ndarray = np.where(rides[links.source], 0, offer)
        return chosen

    return play


def _reputation(links: _Links, top: int, rides: np.ndarray, memory: int) -> Play:
    n = len(rides)
    record = [np.ones(n)] * memory

    def play(levels: np.ndarray | None) -> np.ndarray:
        good = np.mean(record[-memory:], axis=0) >= 0.5
        owed = good[links.target]
        chosen: np.ndarray = np.where(owed & ~rides[links.source], top, 0)
        n_owed = np.bincount(links.source, owed, n)
        n_given = np.bincount(links.source, (chosen > 0) & owed, n)
        # Refusing those of bad standing is no fault: only contacts of good standing are owed.
        record.append(np.where(n_owed > 0, n_given / np.maximum(n_owed, 1), record[-1]))
        return chosen

    return play
