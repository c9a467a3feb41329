"""Columns under inequalities, masked as a lowest column and nonnegative differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError, SchemaError
from tacit.core.schema import Schema


@dataclass(frozen=True)
class Differences:
    """For each column the one below it in a chain of inequalities, or -1, lowest first.

    Eq. (27) of oganian2011: a column is masked as the difference to the one below it, which stays
    nonnegative, so that the sum of both keeps the inequality.
    """

    columns: tuple[str, ...]
    below: tuple[int, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str]) -> Differences:
        """Read the inequalities between these columns from the schema's constraints."""
        place = {name: j for j, name in enumerate(columns)}
        lower: dict[int, set[int]] = {j: set() for j in place.values()}
        for rule in schema.constraints:
            if rule.rule == "at_least" and rule.larger in place and rule.smaller in place:
                lower[place[rule.larger]].add(place[rule.smaller])
        order = _from_the_bottom(lower, columns)
        below = tuple(_just_below(j, lower, columns) for j in range(len(columns)))
        return cls(tuple(columns), below, order)

    def split(self, values: np.ndarray) -> np.ndarray:
        """Replace each column by its difference to the one below it."""
        result = values.copy()
        for j, base in enumerate(self.below):
            if base >= 0:
                result[:, j] = values[:, j] - values[:, base]
                broken = int(np.sum(result[:, j] < 0))
                if broken:
                    raise DataError(
                        f"the data break the rule {self.columns[j]} >= {self.columns[base]}",
                        got=f"{broken} records",
                        do="correct the records or drop the rule from the schema",
                    )
        return result

    def join(self, parts: np.ndarray) -> np.ndarray:
        """Add the differences up again, the lowest columns first."""
        result = parts.copy()
        for j in self.order:
            if self.below[j] >= 0:
                result[:, j] = parts[:, j] + result[:, self.below[j]]
        return result


def _from_the_bottom(lower: dict[int, set[int]], columns: Sequence[str]) -> tuple[int, ...]:
    order: list[int] = []
    while len(order) < len(lower):
        ready = [j for j in lower if j not in order and lower[j] <= set(order)]
        if not ready:
            stuck = [columns[j] for j in lower if j not in order]
            raise SchemaError(f"the inequalities go round in a circle: {', '.join(stuck)}")
        order.extend(ready)
    return tuple(order)


def _just_below(j: int, lower: dict[int, set[int]], columns: Sequence[str]) -> int:
    """Return the highest column below `j`; all others below it must lie below that one too."""
    if not lower[j]:
        return -1
    for candidate in lower[j]:
        if lower[j] - {candidate} <= _all_below(candidate, lower):
            return candidate
    raise SchemaError(
        f"{columns[j]!r} is at least each of several columns that are not ordered themselves",
        got=", ".join(sorted(columns[i] for i in lower[j])),
        do="mask them apart, or declare their order",
    )


def _all_below(j: int, lower: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(lower[j])
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting.extend(lower[i])
    return found
