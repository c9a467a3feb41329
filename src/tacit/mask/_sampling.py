"""What the sampling methods share: how much is drawn, and of what."""

from __future__ import annotations

from typing import Annotated, Self

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from tacit.core.families import Mask
from tacit.core.method import Try


class SamplingMask(Mask):
    """A method that releases some of the records."""

    fraction: Annotated[Annotated[float, Gt(0), Le(1)] | None, Try(0.05, 0.1, 0.25, 0.5, 0.8)] = (
        None
    )
    """Share of the records (or households) to release."""
    size: Annotated[int, Ge(1)] | None = None
    """Number of records (or households) to release, instead of a share."""
    reweight: bool = True
    """Multiply the weight by the inverse of the probability with which a record is drawn."""
    whole_households: bool = False
    """Draw households and release all their members."""

    @model_validator(mode="after")
    def _check_amount(self) -> Self:
        if (self.fraction is None) == (self.size is None):
            raise ValueError("needs either 'fraction' or 'size', not both and not neither")
        return self

    @property
    def units(self) -> str:
        """What is drawn, in the plural."""
        return "households" if self.whole_households else "records"

    def n_wanted(self, n_units: int) -> int:
        """Return how many of the units are to be drawn."""
        return self.size if self.size is not None else int((self.fraction or 0) * n_units + 0.5)

    def how_much(self) -> str:
        """Say in plain words how much is drawn."""
        much = f"{self.size:,}" if self.fraction is None else f"{100 * self.fraction:g} % of the"
        return f"{much} {self.units} were drawn at random"
