"""Games of any number of equal players in which only the number who do something counts.

The Prisoner's Dilemma of N players, the pollution game and the use of an anonymity network are of
this kind. Their equilibria are numbers of players, found in time proportional to N where the full
game would have :math:`2^N` outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from tacit.coprivacy._payoffs import LARGEST_PAYOFF, check_size
from tacit.coprivacy.equilibrium import _dominance_of
from tacit.coprivacy.game import SLACK, Dominance, Game
from tacit.core.errors import DataError


@dataclass(frozen=True)
class CountingEquilibrium:
    """A number of players who take the second strategy, from which no single player moves."""

    count: int
    """How many take the second strategy."""
    is_strict: bool
    """Whether everybody would lose by moving."""
    dominance: Dominance | None
    """How far everybody's strategy is best whatever the others do; see `Equilibrium`."""
    payoffs: tuple[float | None, float | None]
    """What a player gets who takes the first strategy, and the second; None where nobody does."""
    n_profiles: int
    """In how many ways the players can be shared out."""


@dataclass(frozen=True, eq=False)
class CountingGame:
    """Equal players with two strategies; payoffs depend on how many others take the second.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> climate = coprivacy.pollution_game(100_000)
    >>> [(e.count, e.dominance) for e in climate.equilibria()]
    [(0, 'strict')]
    >>> climate.social_optimum
    100000
    """

    payoffs: np.ndarray
    """Row 0 for the first strategy, row 1 for the second; column m if m others take the second."""
    strategies: tuple[str, str] = ("no", "yes")
    """Names of the strategies; the second one is the one that helps others."""

    def __post_init__(self) -> None:
        array = np.array(self.payoffs, dtype=float)
        if array.ndim != 2 or array.shape[0] != 2 or array.shape[1] < 1:
            raise DataError("a counting game needs payoffs of shape (2, players)", got=array.shape)
        if not (np.abs(array) <= LARGEST_PAYOFF).all():
            raise DataError(f"every payoff must be a number, at most {LARGEST_PAYOFF:g}")
        array.setflags(write=False)
        object.__setattr__(self, "payoffs", array)

    @property
    def n_players(self) -> int:
        """How many play."""
        return int(self.payoffs.shape[1])

    @property
    def slack(self) -> float:
        """The difference of payoffs below which two outcomes are equal."""
        return SLACK * float(np.ptp(self.payoffs))

    @property
    def welfare(self) -> np.ndarray:
        """The sum of all payoffs when 0, 1, ..., N players take the second strategy."""
        n = self.n_players
        count = np.arange(n + 1)
        first = np.append(self.payoffs[0], 0.0)  # with all N on the second, nobody is on the first
        second = np.concatenate([[0.0], self.payoffs[1]])
        total: np.ndarray = (n - count) * first + count * second
        return total

    @property
    def social_optimum(self) -> int:
        """The number of players on the second strategy that makes the sum of payoffs largest."""
        return int(self.welfare.argmax())

    def dominance(self) -> tuple[Dominance | None, Dominance | None]:
        """Say for both strategies how far they are best whatever the others do."""
        lead = self.payoffs[0] - self.payoffs[1]
        return _dominance_of(lead[None], self.slack), _dominance_of(-lead[None], self.slack)

    def equilibria(self) -> list[CountingEquilibrium]:
        """Return all numbers of players at which nobody gains by moving."""
        return [self._equilibrium(int(count)) for count in np.flatnonzero(self._stays(False))]

    def _stays(self, strictly: bool) -> np.ndarray:
        """Mark the counts 0..N at which those on either strategy do not move."""
        edge = self.slack if strictly else -self.slack
        lead = self.payoffs[1] - self.payoffs[0]
        firsts_stay = np.append(-lead > edge if strictly else -lead >= edge, True)
        seconds_stay = np.concatenate([[True], lead > edge if strictly else lead >= edge])
        stays: np.ndarray = firsts_stay & seconds_stay
        return stays

    def _equilibrium(self, count: int) -> CountingEquilibrium:
        n, levels = self.n_players, self.dominance()
        dominance = {0: levels[0], n: levels[1]}.get(count)
        first = None if count == n else float(self.payoffs[0, count])
        second = None if count == 0 else float(self.payoffs[1, count - 1])
        strict = bool(self._stays(True)[count])
        return CountingEquilibrium(count, strict, dominance, (first, second), comb(n, count))

    def game(self) -> Game:
        """Write the game out, outcome by outcome; for a moderate number of players."""
        n = self.n_players
        check_size([2] * n)
        chosen = np.indices((2,) * n)
        others = chosen.sum(axis=0) - chosen
        everybody: list[dict[str, Any]] = [{f"P{i + 1}": self.strategies[1] for i in range(n)}]
        return Game(self.payoffs[chosen, others], strategies=[self.strategies] * n,
                    together=everybody)  # fmt: skip

    def __iter__(self) -> Iterator[CountingEquilibrium]:
        return iter(self.equilibria())
