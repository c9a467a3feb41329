"""Edit rules in the language of coded columns: what is forced, and what is out of bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.core.value import Value
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.synthesisers.model import Bounds

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Scalar = bool | int | float | str


class IfThen(Value):
    """Where one column compares with a value as said, another has a certain value.

    Examples
    --------
    >>> rule = IfThen(column="age", comparison="<", value=16, then="marital", becomes="single")
    >>> str(rule)
    "if age < 16 then marital = 'single'"
    """

    column: str
    """Column of the condition."""
    comparison: Comparison
    """How it compares."""
    value: Scalar
    """What it is compared with."""
    then: str
    """Column that the rule fixes."""
    becomes: Scalar
    """The value it has then."""

    def __str__(self) -> str:
        return (
            f"if {self.column} {self.comparison} {self.value!r} then {self.then} = {self.becomes!r}"
        )


class Condition(Value):
    """Records whose value of a column compares as said."""

    column: str
    """Column that is looked at."""
    comparison: Comparison
    """How it compares."""
    value: Scalar
    """What it is compared with."""


@dataclass(frozen=True)
class Edits:
    """All rules about the columns that are drawn."""

    columns: Mapping[str, Column]
    constraints: tuple[Any, ...] = ()
    rules: tuple[IfThen, ...] = ()

    @property
    def before(self) -> list[tuple[str, str]]:
        """Pairs of columns of which the first must be drawn before the second."""
        zeros = [(r.indicator, r.column) for r in self.constraints if isinstance(r, ZeroWhen)]
        return zeros + [(r.column, r.then) for r in self.rules]

    def forced(self, name: str, values: Mapping[str, np.ndarray]) -> list[tuple[np.ndarray, Any]]:
        """Return the records whose value of a column is fixed, with the coded value."""
        found: list[tuple[np.ndarray, Any]] = []
        for rule in self.constraints:
            if isinstance(rule, ZeroWhen) and rule.column == name and rule.indicator in values:
                equal = compared(
                    self.columns[rule.indicator], values[rule.indicator], "==", rule.equals
                )
                found.append((equal, 0.0))
        for rule in self.rules:
            if rule.then == name and rule.column in values:
                where = compared(
                    self.columns[rule.column], values[rule.column], rule.comparison, rule.value
                )
                found.append((where, _coded(self.columns[name], rule.becomes)))
        return found

    def bounds(self, name: str, values: Mapping[str, np.ndarray], n: int) -> Bounds:
        """Return the lowest and highest value of a column that each record may have."""
        limits = Bounds.none(n)
        for rule in self.constraints:
            if isinstance(rule, NonNegative) and rule.column == name:
                np.maximum(limits.low, 0.0, out=limits.low)
            elif isinstance(rule, AtLeast) and name == rule.larger and rule.smaller in values:
                np.fmax(limits.low, values[rule.smaller], out=limits.low)
            elif isinstance(rule, AtLeast) and name == rule.smaller and rule.larger in values:
                np.fmin(limits.high, values[rule.larger], out=limits.high)
        # Contradicting bounds are left to the last repair, which sees all rules at once.
        np.maximum(limits.low, limits.high, out=limits.high)
        return limits


def compared(
    column: Column, values: np.ndarray, comparison: Comparison, value: Scalar
) -> np.ndarray:
    """Return where a coded column compares with a value as said; unknown is not true."""
    if column.is_class:
        place: float = _place(column, value)
        known = values >= 0
        if not column.is_ordered and comparison not in ("==", "!="):
            raise DataError(
                f"{column.name!r} has no order to compare by", got=comparison, do="use == or !="
            )
    else:
        place, known = _coded(column, value), ~np.isnan(values)
    compare = {
        "==": np.equal, "!=": np.not_equal, "<": np.less,
        "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    }[comparison]  # fmt: skip
    return np.asarray(compare(values, place) & known)


def _place(column: Column, value: Scalar) -> int:
    """Return the code of a class; a class that nobody has equals no code."""
    found = [i for i, level in enumerate(column.levels.to_list()) if level == value]
    return found[0] if found else column.n_levels + 1


def _coded(column: Column, value: Scalar) -> float:
    if column.is_class:
        place = _place(column, value)
        if place >= column.n_levels:
            raise DataError(
                f"a rule gives {column.name!r} a value that the data do not have", got=repr(value)
            )
        return place
    if isinstance(value, str):
        raise DataError(f"a rule compares the numbers of {column.name!r} with text", got=value)
    return float(value)


def arranged(visit: Sequence[str], before: Iterable[tuple[str, str]]) -> list[str]:
    """Put columns in an order that obeys the pairs, and else stays as it is.

    Examples
    --------
    >>> arranged(["income", "age", "employed"], [("employed", "income")])
    ['age', 'employed', 'income']
    """
    left, pairs, done = list(visit), [p for p in before if set(p) <= set(visit)], []
    while left:
        free = [c for c in left if not any(b == c and a in left for a, b in pairs)]
        if not free:
            raise ParameterError("the rules depend on each other in a circle", got=", ".join(left))
        done.append(free[0])
        left.remove(free[0])
    return done


def as_constraints_hold(
    data: Microdata, columns: Mapping[str, Column], rules: Sequence[IfThen]
) -> Microdata:
    """Check that drawn records obey all rules; a record that does not is never released."""
    broken = {rule: n for rule, n in data.broken_constraints().items() if n}
    table = data.local
    for rule in rules:
        coded = {name: _recoded(columns[name], table[name]) for name in (rule.column, rule.then)}
        where = compared(columns[rule.column], coded[rule.column], rule.comparison, rule.value)
        value = _coded(columns[rule.then], rule.becomes)
        wrong = int(np.sum(where & (coded[rule.then] != value)))
        if wrong:
            broken[str(rule)] = wrong
    if broken:
        raise ProtectionError(
            "the rules contradict each other and cannot all hold",
            got="; ".join(f"{rule}: {n} records" for rule, n in broken.items()),
            do="correct the rules",
        )
    return data


def _recoded(column: Column, series: Any) -> np.ndarray:
    """Code released values like the column they were drawn for."""
    import polars as pl

    if not column.is_class:
        return np.asarray(series.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)
    place = {level: i for i, level in enumerate(column.levels.to_list())}
    codes = series.replace_strict(place, default=None, return_dtype=pl.Int64)
    return np.asarray(codes.fill_null(-1).to_numpy(), dtype=np.int64)
