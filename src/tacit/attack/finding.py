"""Findings: what an attack achieved, beside what anybody could have guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from tacit.core.measurement import _plain, counted

_NORMAL_99 = 2.5758293035489004
"""Findings come by the dozen, so their intervals are 99 % ones: few alarms are false."""


class Verdict(StrEnum):
    """What a finding comes to."""

    LEAKED = "leaked"
    """The release tells an intruder more than guessing would."""
    GUESSABLE = "could be guessed anyway"
    """The attack succeeds no more often than guessing without the release."""
    NOTHING = "nothing learnt"
    """The attack never succeeded."""


@dataclass(frozen=True)
class Rate:
    """A share with its 99 % interval."""

    value: float
    low: float
    high: float
    n: int
    """How many attempts it is a share of."""

    @classmethod
    def of(cls, chances: np.ndarray) -> Rate:
        r"""Return the mean chance of success, with the Wilson interval.

        With :math:`\hat p` of :math:`n` attempts and :math:`z = 2.576`, the interval is
        :math:`(\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}) / (1 + z^2/n)`. Attempts
        that succeed with a known chance vary less than that, so it is on the safe side.

        Examples
        --------
        >>> found = Rate.of(np.array([1, 1, 0, 1] * 25))
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (0.75, 0.63, 0.84)
        """
        n = len(chances)
        if n == 0:
            return cls(0.0, 0.0, 1.0, 0)
        p, spread = float(np.mean(chances)), _NORMAL_99**2 / n
        middle = (p + spread / 2) / (1 + spread)
        half = math.sqrt(spread * p * (1 - p) + spread**2 / 4) / (1 + spread)
        return cls(p, max(min(middle - half, p), 0.0), min(max(middle + half, p), 1.0), n)

    @classmethod
    def known(cls, value: float, n: int) -> Rate:
        """Return a share that follows from the setting and has no error."""
        return cls(value, value, value, n)

    @classmethod
    def counted(cls, chances: np.ndarray) -> Rate:
        """Return a share of all units there are, which has no error either."""
        return cls.known(float(np.mean(chances)), len(chances)) if len(chances) else cls.of(chances)

    def as_dict(self) -> dict[str, Any]:
        """Return the rate as plain data."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}

    def __str__(self) -> str:
        if self.n == 0:
            return "no attempt"
        if self.low == self.high:
            return f"{100 * self.value:.3g} %"
        return f"{100 * self.value:.3g} % ({100 * self.low:.3g} to {100 * self.high:.3g} %)"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an attack returns: unit by unit, its success and that of guessing."""

    hits: np.ndarray
    """Chance of success for each unit attacked; 0 or 1 where it is certain."""
    guesses: np.ndarray | float
    """The same without the release: for each unit, or one chance for all."""
    question: str
    """What was tried, in a sentence."""
    unit: str = "person"
    """What is attacked: person, record, cell, line, value, bit."""
    positions: np.ndarray | None = None
    """Positions of the units in the original file or table; by default their order."""
    worst: str = ""
    """The worst case, in words."""
    remedy: str = ""
    """What would stop it, if there is more to say than the attack's own advice."""
    exact: bool = False
    """Whether every unit there is was attacked and nothing was left to chance: no interval."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers, as plain data."""
    warnings: tuple[str, ...] = ()
    """What a reader must know before trusting the numbers."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What an attack achieved: how often, on whom, how badly, and what would stop it."""

    key: str
    """Key of the attack."""
    title: str
    """Name of the attack."""
    question: str
    """What was tried, in a sentence."""
    success: Rate
    """Share of attempts that succeeded."""
    baseline: Rate
    """Share that would succeed without the release."""
    unit: str
    """What was attacked: person, record, cell, line, value, bit."""
    broken: np.ndarray
    """Positions of the units that were more likely than not broken."""
    worst: str
    """The worst case."""
    remedy: str
    """What would stop the attack."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers, as plain data."""
    warnings: tuple[str, ...] = ()
    """What a reader must know before trusting the numbers."""
    seconds: float = 0.0
    """Time taken."""

    @property
    def gain(self) -> float:
        """Success over the baseline."""
        return self.success.value - self.baseline.value

    @property
    def leaked(self) -> bool:
        """Whether the attack beats guessing beyond what chance explains."""
        return self.success.n > 0 and self.success.low > self.baseline.high

    @property
    def verdict(self) -> Verdict:
        """What the finding comes to."""
        if self.leaked:
            return Verdict.LEAKED
        return Verdict.GUESSABLE if self.success.value > 0 else Verdict.NOTHING

    @property
    def n_broken(self) -> int:
        """Number of units broken."""
        return len(self.broken)

    def summary(self) -> str:
        """Say the finding in a line."""
        return (
            f"{self.title}: {self.verdict}; success {self.success}, guessing {self.baseline}, "
            f"{counted(self.n_broken, self.unit, _plural(self.unit))} broken."
        )

    def __repr__(self) -> str:
        return f"Finding({self.summary()})"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data; of the units broken, their number and the first."""
        return {
            "attack": self.key,
            "title": self.title,
            "question": self.question,
            "verdict": str(self.verdict),
            "success": self.success.as_dict(),
            "baseline": self.baseline.as_dict(),
            "gain": self.gain,
            "unit": self.unit,
            "broken": self.n_broken,
            "first_broken": _plain(self.broken[:20]),
            "worst": self.worst,
            "remedy": self.remedy,
            "details": _plain(self.details),
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
        }


def _plural(unit: str) -> str:
    return "people" if unit == "person" else f"{unit}s"
