"""What a search looks at: risk, utility, and conditions that a release must meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.core.measurement import Better, Measurement
from tacit.core.method import build, find


class Measuring(Protocol):
    """Anything that compares a release with its original: every measure of the registry does."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the measurement."""


Measured = Measuring | Callable[[Any, Any], Any] | str
"""A measure, its key, or a function of the original and the release."""
Known = dict[str, tuple[float, Better | None]]
"""What was measured on one release, by what tells measures apart."""


@dataclass(frozen=True)
class Objective:
    """One axis of a map: the mean of one or more measures, turned the way the axis wants it."""

    parts: tuple[Measured, ...]
    """Measures or functions; the axis is their mean."""
    better: Better
    """Which way the axis points."""

    @classmethod
    def of(cls, given: Any, better: Better, family: str) -> Objective:
        """Make an axis of a measure, a key, a function, or a list of those."""
        if isinstance(given, Objective):
            return given
        several = isinstance(given, list | tuple | set)
        parts = tuple(given) if several else (given,)
        if not parts:
            raise ParameterError(f"a search needs a {family} to look at", got="an empty list")
        return cls(tuple(_known(part, family) for part in parts), better)

    @property
    def title(self) -> str:
        """Name of the axis."""
        return " and ".join(title_of(part) for part in self.parts)

    def value(
        self, original: Microdata, release: Any, known: Known | None = None
    ) -> tuple[float, dict[str, float]]:
        """Return the place of a release on the axis, and the raw numbers it comes from.

        What was measured on this release before is taken from `known`, and put there.
        """
        raw = {}
        turned = []
        for part in self.parts:
            number, better = measured_once(part, original, release, known)
            raw[title_of(part)] = number
            turned.append(number if better in (None, self.better) else -number)
        return math.fsum(turned) / len(turned), raw

    @property
    def identity(self) -> str:
        """A text that tells this axis from others."""
        return f"{self.better}:" + ";".join(identity_of(part) for part in self.parts)


@dataclass(frozen=True)
class Condition:
    """A number that a release must reach, or must not exceed.

    Examples
    --------
    >>> from tacit import risk
    >>> anonymous = Condition(risk.KAnonymity(k=5), at_least=5)
    >>> anonymous.is_met(6.0), anonymous.shortfall(4.0)
    (True, 0.2)
    """

    measure: Measured
    """What is measured."""
    at_least: float | None = None
    """Smallest number that will do."""
    at_most: float | None = None
    """Largest number that will do."""
    title: str = ""
    """The condition in plain words."""

    def __post_init__(self) -> None:
        limits = [x for x in (self.at_least, self.at_most) if x is not None]
        if len(limits) != 1 or not all(map(math.isfinite, limits)):
            raise ParameterError(
                "a condition says at_least or at_most, one of them, as a number",
                got=f"at_least = {self.at_least}, at_most = {self.at_most}",
            )
        object.__setattr__(self, "measure", _known(self.measure, "risk"))

    @property
    def words(self) -> str:
        """The condition in plain words."""
        if self.title:
            return self.title
        limit = f"at least {self.at_least:g}" if self.at_least is not None else ""
        return f"{title_of(self.measure)} {limit or f'at most {self.at_most:g}'}"

    def is_met(self, value: float) -> bool:
        """Whether this number will do."""
        return self.shortfall(value) == 0.0

    def shortfall(self, value: float) -> float:
        """Return by how much, relative to the limit, a number falls short; 0 when it will do."""
        if math.isnan(value):
            return math.inf
        limit = self.at_least if self.at_least is not None else self.at_most or 0.0
        gap = limit - value if self.at_least is not None else value - limit
        return max(0.0, gap) / max(abs(limit), 1e-12) if gap > 0 else 0.0

    def value(self, original: Microdata, release: Any, known: Known | None = None) -> float:
        """Return the number that the condition is about."""
        return measured_once(self.measure, original, release, known)[0]

    @property
    def identity(self) -> str:
        """A text that tells this condition from others."""
        return f"{identity_of(self.measure)}:{self.at_least}:{self.at_most}"


def measured_once(
    part: Measured, original: Microdata, release: Any, known: Known | None
) -> tuple[float, Better | None]:
    """Measure, unless an equal measure has been taken of this release."""
    if known is None or not hasattr(part, "model_dump_json"):
        return measured(part, original, release)
    name = identity_of(part)
    if name not in known:
        known[name] = measured(part, original, release)
    return known[name]


def measured(part: Measured, original: Microdata, release: Any) -> tuple[float, Better | None]:
    """Return a number and which way is better, where the measure says so."""
    if isinstance(part, str):
        part = _known(part, "risk")
    if hasattr(part, "measure"):
        found = part.measure(original, release)
        return float(found.value), found.better
    answer = part(original, release)  # type: ignore[operator]
    if isinstance(answer, Measurement):
        return float(answer.value), answer.better
    try:
        return float(answer), None
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{title_of(part)} must return a number", got=type(answer).__name__
        ) from error


def registered(key: str, family: str, **parameters: Any) -> Any:
    """Return a measure of the registry with these parameters."""
    return build({"method": key, **parameters}, family)


def title_of(part: Any) -> str:
    """Return the name of a measure or function."""
    title = getattr(part, "title", None)
    if isinstance(title, str) and title:
        return title
    return str(getattr(part, "__name__", type(part).__name__)).replace("_", " ")


def identity_of(part: Any) -> str:
    """Return a text that tells a measure from others; functions are known by their name only."""
    if hasattr(part, "model_dump_json"):
        return f"{type(part).__qualname__}{part.model_dump_json()}"
    owner = part if hasattr(part, "__qualname__") else type(part)
    return f"{owner.__module__}.{owner.__qualname__}"


def _known(part: Any, family: str) -> Any:
    if isinstance(part, str):
        return find(part, family)()
    if isinstance(part, type) and hasattr(part, "measure"):
        return part()
    if hasattr(part, "measure") or callable(part):
        return part
    raise ParameterError(
        f"a {family} is a measure, the key of one, or a function of original and release",
        got=repr(part),
    )


def identity(objectives: Sequence[Objective], conditions: Sequence[Condition]) -> str:
    """Return a text that tells what a search looks at."""
    return "|".join([*(o.identity for o in objectives), *(c.identity for c in conditions)])
