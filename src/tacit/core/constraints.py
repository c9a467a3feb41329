"""Edit rules that hold in the original and must hold in the release."""

from __future__ import annotations

from typing import Annotated, Literal

import narwhals as nw
from pydantic import Field

from tacit.core.value import Value


class NonNegative(Value):
    """The values of a column are never below zero."""

    rule: Literal["nonnegative"] = "nonnegative"
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns the rule speaks of."""
        return (self.column,)

    def broken(self) -> nw.Expr:
        """Return an expression that is true where the rule is broken."""
        return nw.col(self.column) < 0

    def __str__(self) -> str:
        return f"{self.column} >= 0"


class AtLeast(Value):
    """One column is never below another (income is at least taxes)."""

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

    def __str__(self) -> str:
        return f"{self.larger} >= {self.smaller}"


class ZeroWhen(Value):
    """A column is zero wherever an indicator has a given value (no job, no wage)."""

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

    def __str__(self) -> str:
        return f"{self.column} = 0 when {self.indicator} = {self.equals!r}"


Constraint = Annotated[NonNegative | AtLeast | ZeroWhen, Field(discriminator="rule")]
