"""Search spaces: plans with steps and parameters left open, as points of a unit cube.

A candidate is a list of places; at each place stands one method or one of several, with parameters
fixed, tried from a list, or taken from a range. Every way to fill a candidate is addressed by which
method stands at each place and by one number between 0 and 1 for each open parameter. Numbers of
one place mean the same parameter position whatever method stands there, so that a search that has
learnt "stronger" keeps it when it changes the method, and no parameter is ever out of reach of
crossing two plans.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.core.errors import ParameterError
from tacit.core.families import Mask
from tacit.core.method import Try, find
from tacit.core.plan import Plan

Option = tuple[int, tuple[float, ...]]
"""Which method stands at a place, and its open parameters as numbers between 0 and 1."""


@dataclass(frozen=True)
class Between:
    """A range of numbers for a parameter.

    Examples
    --------
    >>> Between(1, 20).at(0.0), Between(1, 20).at(0.999), Between(0.01, 1.0, log=True).at(0.5)
    (1, 20, 0.1)
    """

    low: float
    high: float
    log: bool = False
    """Whether equal steps are equal factors."""
    step: float | None = None
    """Distance of neighbouring values; by default 1 between whole numbers, else none."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParameterError("a range goes from a number up to a larger one", got=repr(self))
        if self.log and self.low <= 0:
            raise ParameterError("a range by factors starts above 0", got=repr(self))
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise ParameterError("a step is above 0 and fits into its range", got=repr(self))

    @property
    def values(self) -> tuple[Any, ...] | None:
        """All values, where they can be counted."""
        step = self._step
        if step is None:
            return None
        n = int((self.high - self.low) / step + 1e-9) + 1
        found = [self.low + i * step for i in range(n)]
        return tuple(int(v) if self._whole else round(v, 12) for v in found)

    @property
    def _whole(self) -> bool:
        numbers = (self.low, self.high, 1 if self.step is None else self.step)
        return all(isinstance(v, int) for v in numbers)

    @property
    def _step(self) -> float | None:
        return 1 if self.step is None and self._whole else self.step

    def at(self, u: float) -> Any:
        """Return the value at a place between 0 and 1."""
        if self.log:
            found = self.low * (self.high / self.low) ** u
        else:
            found = self.low + u * (self.high - self.low)
        values = self.values
        if values is None:
            return float(f"{found:.6g}")
        if self.log:
            return min(values, key=lambda v: abs(v - found))
        return _pick(values, u)


Open = Try | Between
"""What an open parameter may be."""


@dataclass(frozen=True)
class Varied:
    """A method some of whose parameters are left open.

    Parameters that are not given and for which the method declares values worth trying (`Try`) are
    open; those that may be left out are left out.

    Examples
    --------
    >>> from tacit import mask
    >>> Varied(mask.RankSwap, columns=["income"]).spaces
    {'p': Try(values=(1, 5, 10, 15, 20))}
    >>> Varied(mask.RankSwap, columns=["income"], p=Between(1, 20)).filled([0.5]).p
    11.0
    """

    method: type[Mask]
    fixed: Mapping[str, Any] = field(hash=False)
    spaces: Mapping[str, Open] = field(hash=False)

    def __init__(self, method: type[Mask] | str, **parameters: Any) -> None:
        kind: Any = find(method, "mask") if isinstance(method, str) else method
        if not (isinstance(kind, type) and issubclass(kind, Mask)):
            raise ParameterError("a candidate varies a masking method", got=repr(method))
        spaces = {n: v for n, v in parameters.items() if isinstance(v, Try | Between)}
        fixed = {n: v for n, v in parameters.items() if n not in spaces}
        declared = {
            name: Try(*values)
            for name, values in kind.search_space().items()
            if name not in parameters and kind.model_fields[name].default is not None
        }
        object.__setattr__(self, "method", kind)
        object.__setattr__(self, "fixed", fixed)
        object.__setattr__(self, "spaces", declared | spaces)
        self.filled([0.5] * len(self.spaces))  # a wrong name or value shows now

    def filled(self, numbers: Sequence[float]) -> Mask:
        """Return the method at a point of the unit cube."""
        chosen = {
            name: _value(space, u)
            for (name, space), u in zip(self.spaces.items(), numbers, strict=True)
        }
        return self.method(**self.fixed, **chosen)

    def numbers(self) -> list[list[float]] | None:
        """Return the places in the unit interval of all values, or nothing if uncountable."""
        found = []
        for space in self.spaces.values():
            values = space.values
            if values is None:
                return None
            n = len(values)
            found.append([_place(space, i, n) for i in range(n)])
        return found


@dataclass(frozen=True)
class Candidate:
    """Plans that differ in parameters, and in the method at some places.

    Each step is a method, a `Varied` one, or a list of alternatives among which ``None`` stands for
    no step.
    """

    places: tuple[tuple[Varied | Mask | None, ...], ...]
    why: str = ""
    """Why these plans are worth trying, in plain words."""

    def __init__(self, steps: Iterable[Any], why: str = "") -> None:
        places = tuple(_alternatives(step) for step in steps)
        if not places:
            raise ParameterError("a candidate has at least one step")
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "why", why)

    def plan(self, options: Sequence[Option]) -> Plan:
        """Return the plan that these options make."""
        filled = [
            _filled(place[which], numbers)
            for place, (which, numbers) in zip(self.places, options, strict=True)
        ]
        return Plan([step for step in filled if step is not None])

    def every(self) -> Iterator[Plan] | None:
        """Return all plans, or nothing if they cannot be counted."""
        lists = [_every_option(place) for place in self.places]
        if any(options is None for options in lists):
            return None
        known = [options for options in lists if options is not None]
        return (self.plan(options) for options in itertools.product(*known))

    @property
    def size(self) -> float:
        """Number of plans; infinite where a range is not cut into steps."""
        lists = [_every_option(place) for place in self.places]
        return math.prod(math.inf if options is None else len(options) for options in lists)


class Space:
    """All plans of some candidates."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        if not candidates:
            raise ParameterError("a search needs at least one candidate", got="none")
        self.candidates = tuple(candidates)

    @classmethod
    def of(cls, given: Iterable[Any]) -> Space:
        """Make a space of plans, methods, lists of steps and candidates."""
        if isinstance(given, Mask | Varied | Plan | Candidate | str):
            given = [given]
        return cls([_candidate(item) for item in given])

    @property
    def size(self) -> float:
        """Number of plans, at most."""
        return sum(candidate.size for candidate in self.candidates)

    def every(self) -> Iterator[Plan]:
        """Go through all plans; only where their number is finite."""
        for candidate in self.candidates:
            yield from candidate.every() or ()

    @property
    def shape(self) -> list[tuple[int, int]]:
        """For each place the largest numbers of methods and of open parameters there."""
        longest = max(len(c.places) for c in self.candidates)
        return [self._width(i) for i in range(longest)]

    def _width(self, i: int) -> tuple[int, int]:
        places = [c.places[i] for c in self.candidates if i < len(c.places)]
        return max(map(len, places)), max(max(map(_n_open, place)) for place in places)

    def plan(self, which: int, options: Sequence[Option]) -> Plan:
        """Return a plan; options beyond the candidate's own methods and parameters wrap or end."""
        candidate = self.candidates[which % len(self.candidates)]
        fitted = []
        for place, (chosen, numbers) in zip(candidate.places, options, strict=False):
            index = chosen % len(place)
            fitted.append((index, tuple(numbers[: _n_open(place[index])])))
        return candidate.plan(fitted)


def _candidate(item: Any) -> Candidate:
    if isinstance(item, Candidate):
        return item
    if isinstance(item, Mask | Varied):
        return Candidate([item])
    if isinstance(item, type | str):
        raise ParameterError(
            "a candidate needs to know its columns",
            got=getattr(item, "key", item),
            do="write Varied(method, columns=[...])",
        )
    return Candidate(list(item))


def _alternatives(step: Any) -> tuple[Varied | Mask | None, ...]:
    options = tuple(step) if isinstance(step, list | tuple) else (step,)
    wrong = [o for o in options if o is not None and not isinstance(o, Mask | Varied)]
    if wrong or not options:
        raise ParameterError(
            "a step is a masking method, Varied, or a list of those", got=repr(wrong or step)
        )
    return options


def _n_open(option: Varied | Mask | None) -> int:
    return len(option.spaces) if isinstance(option, Varied) else 0


def _filled(option: Varied | Mask | None, numbers: Sequence[float]) -> Mask | None:
    return option.filled(numbers) if isinstance(option, Varied) else option


def _every_option(place: Sequence[Varied | Mask | None]) -> list[Option] | None:
    found: list[Option] = []
    for index, option in enumerate(place):
        numbers = option.numbers() if isinstance(option, Varied) else []
        if numbers is None:
            return None
        found += [(index, point) for point in itertools.product(*numbers)]
    return found


def _value(space: Open, u: float) -> Any:
    return space.at(u) if isinstance(space, Between) else _pick(space.values, u)


def _pick(values: Sequence[Any], u: float) -> Any:
    return values[min(int(u * len(values)), len(values) - 1)]


def _place(space: Open, index: int, n: int) -> float:
    """Return a number that leads to the value of this index."""
    if isinstance(space, Between) and space.log and space.values is not None:
        return math.log(space.values[index] / space.low) / math.log(space.high / space.low)
    return (index + 0.5) / n
