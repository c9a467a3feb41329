"""Measurement: one number with what is needed to read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Better = Literal["lower", "higher"]
Unit = Literal["number", "count", "percent"]
Units = Literal["released", "original"]


@dataclass(frozen=True)
class Measurement:
    """One number, which way is better, its bounds, and the value per record or cell."""

    key: str
    """Key of the measure."""
    title: str
    """Name of the measure."""
    value: float
    """The number; NaN where it is not defined."""
    better: Better
    """Which direction is good."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """Smallest and largest value possible."""
    unit: Unit = "number"
    """How to print the number; a percent is stored as a share."""
    per_unit: np.ndarray | None = None
    """The value for each record (or cell), where the measure has one."""
    units: Units = "released"
    """Whose values they are: of the released records, or of the original ones, in file order."""
    interval: tuple[float, float] | None = None
    """A confidence interval, where the measure has one."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers, as plain data."""
    explanation: str = ""
    """What the number says, in words a decision maker reads."""
    warnings: tuple[str, ...] = ()
    """What a reader must know before trusting the number."""

    @property
    def text(self) -> str:
        """The value as printed."""
        if math.isnan(self.value):
            return "not defined"
        match self.unit:
            case "percent":
                return f"{100 * self.value:.4g} %"
            case "count":
                return f"{self.value:,.0f}"
            case _:
                return f"{self.value:.6g}"

    def __float__(self) -> float:
        return float(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the measurement as plain data, without the values per record."""
        return {
            "measure": self.key,
            "title": self.title,
            "value": _plain(self.value),
            "text": self.text,
            "better": self.better,
            "bounds": _plain(self.bounds),
            "unit": self.unit,
            "interval": _plain(self.interval),
            "details": _plain(self.details),
            "explanation": self.explanation,
            "warnings": list(self.warnings),
        }


def counted(n: int, one: str, many: str | None = None) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> counted(1, "record"), counted(1200, "record"), counted(1, "person", "people")
    ('1 record', '1,200 records', '1 person')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _plain(value: Any) -> Any:
    """Turn numpy and infinite values into what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
