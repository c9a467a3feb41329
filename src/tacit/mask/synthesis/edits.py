"""Edit rules in the language of coded columns: what is forced, out of bounds, or impossible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.mask._edit_rules import fitting
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.rules import Combination, Comparison, Condition, IfThen, Scalar, said
from tacit.mask.synthesis.synthesisers.model import Bounds

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Edits:
    """All rules about the columns that are drawn."""

    columns: Mapping[str, Column]
    constraints: tuple[Any, ...] = ()
    rules: tuple[IfThen, ...] = ()
    impossible: tuple[Combination, ...] = ()

    def __post_init__(self) -> None:
        conditions = [c for rule in self.rules for c in rule.forbids]
        for condition in [*conditions, *(c for zero in self.impossible for c in zero)]:
            if condition.column not in self.columns:
                raise DataError(f"a rule names {condition.column!r}, which has no model")
            check_known(self.columns[condition.column], condition)

    @classmethod
    def about(
        cls,
        data: Microdata,
        columns: Mapping[str, Column],
        rules: tuple[IfThen, ...],
        impossible: tuple[Combination, ...],
        given: Iterable[str] = (),
    ) -> Self:
        """Take the rules of a schema and further ones; some columns are known before the others.

        A rule that would fix a column that is known already forbids values of the other one.
        """
        known = set(given)
        late = tuple(r for r in rules if r.then in known and r.column not in known)
        constraints = tuple(fitting(data, data.schema.constraints))
        zeros = (*impossible, *(rule.forbids for rule in late))
        return cls(columns, constraints, tuple(r for r in rules if r not in late), zeros)

    @property
    def before(self) -> list[tuple[str, str]]:
        """Pairs of columns of which the first must be drawn before the second."""
        zeros = [(r.indicator, r.column) for r in self.constraints if isinstance(r, ZeroWhen)]
        return zeros + [(r.column, r.then) for r in self.rules]

    def forced(self, name: str, values: Values) -> list[tuple[np.ndarray, Any]]:
        """Return the records whose value of a column is fixed, with the coded value."""
        found: list[tuple[np.ndarray, Any]] = []
        for rule in self.constraints:
            if isinstance(rule, ZeroWhen) and rule.column == name and rule.indicator in values:
                zero = self.columns[name].place(0)
                if zero is not None:  # a class that nobody has is left to the last repair
                    found.append((self._equal(rule, values), zero))
        for rule in self.rules:
            if rule.then == name and rule.column in values:
                where = self._holds(rule.condition, values)
                found.append((where, coded(self.columns[name], rule.becomes)))
        return found

    def bounds(self, name: str, values: Values, n: int) -> Bounds:
        """Return the lowest and highest value of a column that each record may have."""
        limits = Bounds.none(n)
        for rule in self.constraints:
            if isinstance(rule, NonNegative) and rule.column == name:
                np.maximum(limits.low, 0.0, out=limits.low)
            elif not isinstance(rule, AtLeast) or any(
                self.columns[c].is_class for c in rule.columns
            ):
                continue
            elif name == rule.larger and rule.smaller in values:
                np.fmax(limits.low, values[rule.smaller], out=limits.low)
            elif name == rule.smaller and rule.larger in values:
                np.fmin(limits.high, values[rule.larger], out=limits.high)
        # Contradicting bounds are left to the last repair, which sees all rules at once.
        np.maximum(limits.low, limits.high, out=limits.high)
        return limits

    def forbidden(self, name: str, values: Values) -> np.ndarray | None:
        """Return the records that must not have their value of a column, given all that is known.

        None if no rule can forbid one.
        """
        found = [self._together(zero, values) for zero in self._zeros(name) if _known(zero, values)]
        found += [
            self._equal(rule, values) & (np.nan_to_num(values[rule.column]) != 0)
            for rule in self.constraints
            if isinstance(rule, ZeroWhen) and rule.indicator == name and rule.column in values
            if not self.columns[rule.column].is_class
        ]
        return np.logical_or.reduce(found) if found else None

    def _zeros(self, name: str) -> list[Combination]:
        """Return the impossible combinations that name a column."""
        return [zero for zero in self.impossible if name in (c.column for c in zero)]

    def _holds(self, condition: Condition, values: Values) -> np.ndarray:
        column = self.columns[condition.column]
        return compared(column, values[column.name], condition.comparison, condition.value)

    def _equal(self, rule: ZeroWhen, values: Values) -> np.ndarray:
        return compared(self.columns[rule.indicator], values[rule.indicator], "==", rule.equals)

    def _together(self, combination: Combination, values: Values) -> np.ndarray:
        return np.asarray(np.all([self._holds(c, values) for c in combination], axis=0))

    # -- checks of drawn records ------------------------------------------------------------------

    def impossible_rows(self, table: Any) -> np.ndarray:
        """Return the places of records with an impossible combination."""
        found = [self._together(zero, self._recoded(zero, table)) for zero in self.impossible]
        return np.flatnonzero(np.logical_or.reduce(found)) if found else np.zeros(0, dtype=np.int64)

    def broken(self, table: Any) -> dict[str, int]:
        """Count the records that break each rule or have an impossible combination."""
        named = {str(rule): rule.forbids for rule in self.rules}
        named |= {f"impossible: {said(zero)}": zero for zero in self.impossible}
        counts = {
            name: int(self._together(zero, self._recoded(zero, table)).sum())
            for name, zero in named.items()
        }
        return {name: n for name, n in counts.items() if n}

    def _recoded(self, combination: Combination, table: Any) -> Values:
        names = dict.fromkeys(c.column for c in combination)
        return {name: self.columns[name].recoded(table[name]) for name in names}


def _known(combination: Combination, values: Values) -> bool:
    return all(c.column in values for c in combination)


def compared(
    column: Column, values: np.ndarray, comparison: Comparison, value: Scalar
) -> np.ndarray:
    """Return where a coded column compares with a value as said; unknown is not true."""
    if column.is_class:
        place, known = column.order_of(value), values >= 0
        if not column.is_ordered and comparison not in ("==", "!="):
            raise DataError(
                f"{column.name!r} has no order to compare by", got=comparison, do="use == or !="
            )
    else:
        place, known = coded(column, value), ~np.isnan(values)
    compare = {
        "==": np.equal, "!=": np.not_equal, "<": np.less,
        "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    }[comparison]  # fmt: skip
    return np.asarray(compare(values, place) & known)


def check_known(column: Column, condition: Condition) -> None:
    """Refuse a condition on a value that cannot be: most likely it is misspelt."""
    if column.is_class and not column.may_have(condition.value):
        raise DataError(
            f"a rule names a value that {column.name!r} does not have",
            got=repr(condition.value),
            do="write it as it stands in the data",
        )


def coded(column: Column, value: Scalar) -> float:
    """Return a value in the language of a column."""
    place = column.place(value)
    if place is None:
        raise DataError(
            f"a rule gives {column.name!r} a value that the data do not have", got=repr(value)
        )
    return place


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


def as_rules_hold(data: Microdata, edits: Edits) -> Microdata:
    """Check that drawn records obey all rules; a record that does not is never released."""
    broken = {rule: n for rule, n in data.broken_constraints().items() if n}
    broken |= edits.broken(data.local)
    if broken:
        raise ProtectionError(
            "the rules contradict each other or the data, and cannot all hold",
            got="; ".join(f"{rule}: {n} records" for rule, n in broken.items()),
            do="correct the rules, or records that break them and are not replaced",
        )
    return data
