"""Rounding."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt
from pydantic import AllowInfNan

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind
from tacit.mask._multiples import multiple

Direction = Literal["nearest", "down", "up", "random"]


class Round(
    Mask,
    key="round",
    title="Rounding",
    cites=("domingoferrer2007", "willenborg2001"),
    example={"columns": ["income", "taxes"], "base": 100},
    at_scale="blocks",
):
    r"""Round numbers to a multiple of a base.

    Missing values stay missing; an infinite value stays as it is.
    Weights are not used; a weight column is rounded only if it is named.
    Households are not considered; values are rounded one by one.

    When not to use it: as the only protection; a rounded rare value is as rare as before.

    Notes
    -----
    With base :math:`b`, the value :math:`x` becomes :math:`b\lfloor x/b \rfloor` (down),
    :math:`b\lceil x/b \rceil` (up) or the nearer of the two, where a tie goes to the even
    multiple. At random, it goes up with probability :math:`x/b - \lfloor x/b \rfloor`, so that the
    expected value is :math:`x` and totals stay unbiased. A multiple of the base never moves.
    Whole numbers stay whole when the base is whole. Microdata rounding is described in
    [willenborg2001]_ and listed among the perturbative methods in [domingoferrer2007]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> ages = tacit.Plan([mask.Round(columns=["Age"], base=5)]).apply(data, seed=1).frame["Age"]
    >>> {age % 5 for age in ages}
    {0}
    """

    columns: Columns
    """Numeric variables to round."""
    base: Annotated[float, Gt(0), AllowInfNan(False), Try(5, 10, 100, 1000)]
    """Released values are multiples of this number."""
    direction: Direction = "nearest"
    """Where a value goes: the nearest multiple, down, up, or at random without bias."""

    def describe(self) -> str:
        """Say in plain words what was rounded."""
        way = {
            "nearest": "to the nearest multiple",
            "down": "down to a multiple",
            "up": "up to a multiple",
            "random": "at random, without bias, to a multiple",
        }[self.direction]
        return f"{self.title}: {', '.join(self.columns)} rounded {way} of {self.base:g}"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with rounded values."""
        data.schema.require(self.columns, kinds=[Kind.NUMERIC], by=self.key)
        rounded, missing = {}, {}
        for name in self.columns:
            column = data.local[name]
            missing[name] = column.is_null().to_numpy()
            rounded[name] = self._rounded(_plain_numbers(column), rng)
        return data.with_arrays(rounded).with_missing(missing)

    def _rounded(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if values.dtype.kind == "i" and self.base.is_integer() and _fits(values, self.base):
            return round_whole(values, int(self.base), self.direction, rng)
        return round_real(values.astype(np.float64), self.base, self.direction, rng)


def _plain_numbers(column: Any) -> np.ndarray:
    """Return a Polars column as whole or real numbers of full width; missing values become 0."""
    import polars as pl

    if column.dtype.is_integer():
        whole = column.cast(pl.Int64, strict=False)  # an unsigned number may not fit
        if whole.null_count() == column.null_count():
            return np.asarray(whole.fill_null(0).to_numpy())
    return np.asarray(column.cast(pl.Float64).fill_null(0).to_numpy())


def _fits(values: np.ndarray, base: float) -> bool:
    """Tell whether every multiple of the base next to a value is a 64-bit whole number."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return max(-low, high) + int(base) < 2**63


def round_whole(
    values: np.ndarray, base: int, direction: Direction, rng: np.random.Generator
) -> np.ndarray:
    """Round whole numbers to multiples of a whole base, without passing through fractions."""
    rest = np.mod(values, base)
    below = values - rest
    match direction:
        case "down":
            up = np.zeros(len(values), dtype=bool)
        case "up":
            up = rest > 0
        case "random":
            up = rng.integers(0, base, len(values)) < rest
        case "nearest":
            is_odd = np.mod(below // base, 2) == 1
            up = (rest > base - rest) | ((rest == base - rest) & is_odd)
    return np.asarray(below + base * up)


def round_real(
    values: np.ndarray, base: float, direction: Direction, rng: np.random.Generator
) -> np.ndarray:
    """Round real numbers to multiples of a base; infinite values stay."""
    finite = np.where(np.isfinite(values), values, 0.0)
    quotient = finite / base
    nearest = np.rint(quotient)  # ties go to the even multiple
    match direction:
        case "down":
            index = np.floor(quotient)
        case "up":
            index = np.ceil(quotient)
        case "random":
            index = np.floor(quotient + rng.random(len(values)))
        case "nearest":
            index = nearest
    # 0.3 / 0.1 is a little below 3: a value that is a multiple already must not move.
    index = np.where(multiple(nearest, base) == finite, nearest, index)
    return np.where(np.isfinite(values), multiple(index, base), values)
