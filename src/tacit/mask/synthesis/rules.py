"""Rules that a user declares beside those of the schema: conditions, and what cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import BeforeValidator

from tacit.core.value import Value

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Scalar = bool | int | float | str


class Condition(Value):
    """Records whose value of a column compares as said."""

    column: str
    """Column that is looked at."""
    comparison: Comparison
    """How it compares."""
    value: Scalar
    """What it is compared with; a date as text, ``"2001-12-31"``."""

    def __str__(self) -> str:
        return f"{self.column} {self.comparison} {self.value!r}"


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

    @property
    def condition(self) -> Condition:
        """When the rule speaks."""
        return Condition(column=self.column, comparison=self.comparison, value=self.value)

    @property
    def forbids(self) -> tuple[Condition, ...]:
        """The combination that the rule makes impossible."""
        other = Condition(column=self.then, comparison="!=", value=self.becomes)
        return (self.condition, other)

    def __str__(self) -> str:
        return f"if {self.condition} then {self.then} = {self.becomes!r}"


def _conditions(given: Any) -> Any:
    """Read ``{"sex": "male", "pregnant": True}`` as conditions of equality."""
    if not isinstance(given, Mapping):
        return given
    return [{"column": c, "comparison": "==", "value": value} for c, value in given.items()]


Combination = Annotated[tuple[Condition, ...], BeforeValidator(_conditions), MinLen(1)]
"""Conditions that never hold together (a structural zero); equalities may be written as a dict."""


def said(combination: Combination) -> str:
    """Say a combination in words.

    Examples
    --------
    >>> said((Condition(column="age", comparison="<", value=16),))
    'age < 16'
    """
    return " and ".join(str(condition) for condition in combination)


def named_columns(rules: tuple[IfThen, ...], impossible: tuple[Combination, ...]) -> list[str]:
    """Return the columns that rules and impossible combinations name."""
    found = [c for rule in rules for c in (rule.column, rule.then)]
    return [*found, *(c.column for combination in impossible for c in combination)]
