"""Extreme values that show: the largest of all may be known from a file in which nobody is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.common_scale import as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import pair, substantive_columns
from tacit.core.schema import Kind
from tacit.risk._comparable import present_columns

_NO_NUMBER = "no column is numeric, so nothing is extreme"


@dataclass(frozen=True)
class _End:
    """The largest or the smallest value of a column."""

    column: str
    side: str
    value: float
    is_outlying: bool
    """Whether too few people are near it."""
    is_told: bool
    """Whether a released value is near it."""


class ExtremeValues(
    Risk,
    key="extreme-values",
    title="Extreme values that show",
    cites=("domingoferrer2007", "hundepool2012"),
    example={"columns": ["income", "taxes"]},
):
    r"""Report the share of outlying extremes that a release tells to within a few percent.

    The highest income or the largest firm is known from the newspaper. If a released value lies
    near it, and nobody else's value does, the release tells that person's value, whether records
    correspond or not. Top-code, or microaggregate the tails, where this is above zero.

    Missing values: are not extreme. Weights: not used. Households: not considered; the members of
    one count as several people.

    Notes
    -----
    An end :math:`x_{(1)}` of a column (its largest or smallest value, not zero) is outlying if
    fewer than `common` people have values within :math:`t\,|x_{(1)}|` of it, with the `tolerance`
    :math:`t`; it is told if a released value lies as near, as in the p% rule for tables
    [hundepool2012]_. The value is the share of outlying ends that are told, 0 if there are none.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import risk
    >>> pay = pl.DataFrame({"pay": [20.0, 21, 22, 23, 24, 90]})
    >>> safe = pl.DataFrame({"pay": [20.5, 21.5, 22.5, 24, 30, 30]})
    >>> measure = risk.ExtremeValues()
    >>> measure.measure(pay, pay).value, measure.measure(pay, safe).value
    (1.0, 0.0)
    """

    default: ClassVar[bool] = False

    columns: Columns | None = None
    """Numeric columns; by default all that both files have."""
    tolerance: Annotated[float, Gt(0), Lt(1)] = 0.1
    """Relative difference within which a value counts as told."""
    common: Annotated[int, Ge(2)] = 3
    """People near an extreme who hide each other."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, if there is none."""
        if self.columns is None and not substantive_columns(original, [Kind.NUMERIC]):
            return _NO_NUMBER
        return None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of outlying extremes that are told."""
        both = pair(original, release)
        names = self.columns or substantive_columns(both.original, [Kind.NUMERIC])
        both.original.schema.require(names, kinds=[Kind.NUMERIC], by=self.key)
        if not names:
            raise DataError(f"{self.key}: {_NO_NUMBER}")
        present, warnings = present_columns(both, names, by=self.key)
        is_number = [n for n in present if both.released.local[n].dtype.is_numeric()]
        ends = [
            end
            for name in is_number
            for end in self._ends(name, *(as_numbers(side.local[name]) for side in both.sides))
        ]
        outlying = [end for end in ends if end.is_outlying]
        told = [end for end in outlying if end.is_told]
        return Measurement(
            key=self.key, title=self.title, value=len(told) / max(len(outlying), 1),
            better="lower", bounds=(0.0, 1.0), unit="percent",
            details={
                "outlying": [f"{end.side} {end.column}" for end in outlying],
                "told": [f"{end.side} {end.column}" for end in told],
            },
            explanation=self._explained(outlying, told),
            warnings=tuple(warnings),
        )  # fmt: skip

    def _ends(self, name: str, before: np.ndarray, after: np.ndarray) -> list[_End]:
        known, made = before[~np.isnan(before)], after[~np.isnan(after)]
        if not len(known):
            return []
        found = []
        for side, value in (("largest", float(known.max())), ("smallest", float(known.min()))):
            reach = self.tolerance * abs(value)
            n_near = int(np.sum(np.abs(known - value) <= reach))
            is_told = bool(np.any(np.abs(made - value) <= reach))
            is_outlying = value != 0 and n_near < self.common
            found.append(_End(name, side, value, is_outlying, is_told))
        return found

    def _explained(self, outlying: list[_End], told: list[_End]) -> str:
        if not outlying:
            return (
                f"No largest or smallest value lies apart: {self.common} people or more are "
                f"within {self.tolerance:.0%} of each."
            )
        named = ", ".join(f"the {end.side} {end.column}" for end in told) or "none"
        return (
            f"{len(outlying)} largest or smallest values lie apart, with fewer than {self.common} "
            f"people within {self.tolerance:.0%}; told by a released value as near: {named}."
        )
