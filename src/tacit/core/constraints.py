"""Edit rules that hold in the original and must hold in the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import narwhals as nw
from pydantic import Field

from tacit.core.value import Tagged


class NonNegative(Tagged):
    """The values of a column are never below zero."""

    tag: ClassVar[str] = "rule"
    rule: Literal["nonnegative"] = "nonnegative"
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns the rule speaks of."""
        return (self.column,)

    def broken(self) -> nw.Expr:
        """Return an expression that is true where the rule is broken."""
        return nw.col(self.column) < 0

    def fits(self, types: Mapping[str, Any]) -> bool:
        """Whether columns of these types can keep or break the rule."""
        return bool(types[self.column].is_numeric())

    def __str__(self) -> str:
        return f"{self.column} >= 0"


class AtLeast(Tagged):
    """One column is never below another (income is at least taxes)."""

    tag: ClassVar[str] = "rule"
    rule: Literal["at_least"] = "at_least"
    larger: str
    smaller: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns the rule speaks of."""
        return (self.larger, self.smaller)

    def broken(self) -> nw.Expr:
        """Return an expression that is true where the rule is broken."""
        return nw.col(self.larger) < nw.col(self.smaller)

    def fits(self, types: Mapping[str, Any]) -> bool:
        """Whether columns of these types can keep or break the rule."""
        larger, smaller = types[self.larger], types[self.smaller]
        if larger.is_temporal():
            return bool(larger == smaller)
        return bool(larger.is_numeric() and smaller.is_numeric())

    def __str__(self) -> str:
        return f"{self.larger} >= {self.smaller}"


class ZeroWhen(Tagged):
    """A column is zero wherever an indicator has a given value (no job, no wage)."""

    tag: ClassVar[str] = "rule"
    rule: Literal["zero_when"] = "zero_when"
    column: str
    indicator: str
    equals: str | int | float | bool

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns the rule speaks of."""
        return (self.column, self.indicator)

    def broken(self) -> nw.Expr:
        """Return an expression that is true where the rule is broken."""
        return (nw.col(self.indicator) == self.equals) & (nw.col(self.column) != 0)

    def fits(self, types: Mapping[str, Any]) -> bool:
        """Whether columns of these types can keep or break the rule."""
        indicator = types[self.indicator]
        if isinstance(self.equals, bool):
            comparable = indicator == nw.Boolean
        elif isinstance(self.equals, str):
            comparable = indicator == nw.String
        else:
            comparable = indicator.is_numeric()
        return bool(comparable and types[self.column].is_numeric())

    def __str__(self) -> str:
        return f"{self.column} = 0 when {self.indicator} = {self.equals!r}"


Constraint = Annotated[NonNegative | AtLeast | ZeroWhen, Field(discriminator="rule")]
