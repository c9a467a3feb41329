"""Universes: the units a request is about, in the only words a server understands."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, PlainSerializer, model_validator

from tacit.core.errors import ParameterError
from tacit.core.value import Value

_MOST_PIECES, _MOST_VALUES = 100, 1_000


class Range(Value):
    """Numbers from one cutpoint up to, and without, another; an end left out is open."""

    low: float | None = None
    """Cutpoint at which the range begins."""
    high: float | None = None
    """Cutpoint before which it ends."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ends = [end for end in (self.low, self.high) if end is not None]
        if not all(map(isfinite, ends)) or ends != sorted(set(ends)):
            raise ValueError("should begin at a number below its end")
        return self


class Condition(Value):
    """One variable is in some of its categories, or in some ranges between cutpoints."""

    variable: str
    """Name of the variable."""
    values: tuple[str, ...] = ()
    """Categories, or nodes of its hierarchy."""
    ranges: tuple[Range, ...] = ()
    """Ranges of a numeric variable."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.values) == bool(self.ranges):
            raise ValueError("should name categories or ranges, and not both")
        if len(self.values) + len(self.ranges) > _MOST_VALUES:
            raise ValueError(f"should name at most {_MOST_VALUES:,} values")
        return self

    @classmethod
    def of(cls, variable: str, given: Any) -> Condition:
        """Read a condition: a category, a list of them, a pair of cutpoints, or plain data."""
        if isinstance(given, tuple) and len(given) == 2 and all(map(_is_end, given)):
            return cls(variable=variable, ranges=(Range(low=given[0], high=given[1]),))
        listed = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
        if listed and all(isinstance(one, Range | Mapping | tuple) for one in listed):
            return cls(variable=variable, ranges=tuple(map(_range, listed)))
        return cls(variable=variable, values=tuple(map(_category, listed)))

    def plain(self) -> list[Any]:
        """Return the values as plain data: text, or ``{"from": ..., "to": ...}``."""
        if self.values:
            return list(self.values)
        return [{"from": r.low, "to": r.high} for r in self.ranges]


def _is_end(end: Any) -> bool:
    return end is None or (isinstance(end, int | float) and not isinstance(end, bool))


def _category(one: Any) -> str:
    if isinstance(one, bool):
        return str(one).lower()
    if isinstance(one, float) and one.is_integer():
        return str(int(one))
    if isinstance(one, int | float | str) and (isinstance(one, str) or isfinite(one)):
        return str(one)
    raise ParameterError("a category is text or a number", got=type(one).__name__)


def _range(given: Any) -> Range:
    if isinstance(given, Range):
        return given
    if isinstance(given, tuple) and len(given) == 2 and all(map(_is_end, given)):
        return Range(low=given[0], high=given[1])
    if not isinstance(given, Mapping) or not set(given) <= {"from", "to"} or not given:
        raise ParameterError("a range has a from, a to, or both, and nothing else")
    ends = (given.get("from"), given.get("to"))
    if not all(map(_is_end, ends)):
        raise ParameterError("the ends of a range are numbers")
    return Range(low=ends[0], high=ends[1])


Piece = tuple[Condition, ...]


def _read(given: Any) -> Any:
    """Read the pieces of a universe from a mapping, or a list of them."""
    pieces = [given] if isinstance(given, Mapping) else given
    if not isinstance(pieces, list | tuple):
        raise ParameterError("a universe is a set of conditions, or a list of such sets")
    return tuple(_piece(piece) for piece in pieces)


def _piece(given: Any) -> Piece:
    if isinstance(given, Mapping):
        return tuple(Condition.of(str(name), value) for name, value in sorted(given.items()))
    if isinstance(given, list | tuple) and all(isinstance(c, Condition) for c in given):
        return tuple(sorted(given, key=lambda c: c.variable))
    raise ParameterError("a piece of a universe maps variables to what they may be")


def _written(pieces: tuple[Piece, ...]) -> list[dict[str, Any]]:
    return [{c.variable: c.plain() for c in piece} for piece in pieces]


class Universe(Value):
    """The units a request is about: a union of pieces, each a conjunction of conditions.

    Nothing else can be said: no expressions, no formulas, no lists of units. Two universes that
    hold the same units are the same to the server, however they are written.

    Examples
    --------
    >>> rich = Universe.where(sex="F", income=(45000, 53000))
    >>> (rich | Universe.where(region=["North", "South"])).plain()
    [{'income': [{'from': 45000.0, 'to': 53000.0}], 'sex': ['F']}, {'region': ['North', 'South']}]
    >>> Universe.where(sex="F") == Universe.of({"sex": ["F"]})
    True
    """

    pieces: Annotated[tuple[Piece, ...], BeforeValidator(_read), PlainSerializer(_written)] = ((),)
    """Conjunctions of conditions; a piece without conditions is everybody."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not 1 <= len(self.pieces) <= _MOST_PIECES:
            raise ValueError(f"should have 1 to {_MOST_PIECES} pieces")
        for piece in self.pieces:
            names = [c.variable for c in piece]
            if len(set(names)) < len(names):
                raise ValueError("should name each variable once in a piece")
        return self

    @classmethod
    def where(cls, **conditions: Any) -> Universe:
        """Return the units that satisfy all conditions; a pair of numbers is a range."""
        return cls(pieces=(tuple(Condition.of(n, v) for n, v in sorted(conditions.items())),))

    @classmethod
    def of(cls, given: Any) -> Universe:
        """Read a universe from plain data; None is everybody."""
        if isinstance(given, Universe):
            return given
        if given is None:
            return cls()
        if isinstance(given, Mapping) and set(given) == {"pieces"}:
            given = given["pieces"]
        return cls(pieces=given)

    def __or__(self, other: Universe) -> Universe:
        """Return the units of either."""
        return Universe(pieces=(*self.pieces, *other.pieces))

    def plain(self) -> list[dict[str, Any]]:
        """Return plain data that `Universe.of` reads."""
        return _written(self.pieces)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables in its conditions, sorted."""
        return tuple(sorted({c.variable for piece in self.pieces for c in piece}))

    @property
    def is_everybody(self) -> bool:
        """Whether some piece has no condition."""
        return any(not piece for piece in self.pieces)


def as_universe(given: Any) -> Universe:
    """Read a universe given as a field of a request."""
    try:
        return Universe.of(given)
    except ParameterError as error:
        raise ValueError(f"should be a universe: {error.what}") from error


UniverseField = Annotated[
    Universe, BeforeValidator(as_universe), PlainSerializer(lambda universe: universe.plain())
]
"""A universe as a field: plain data in, plain data out."""
