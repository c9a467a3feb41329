"""The information-loss table in words that a user of statistics knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.core.scorecard import Scorecard
from tacit.report._bins import number
from tacit.report._cards import measurement_of
from tacit.report._charts import percent

_ROWS = {
    "X": "Values of the records",
    "mean": "Means",
    "S": "Variances",
    "V": "Variances and covariances",
    "R": "Correlations",
    "RF": "Correlations with the main factors",
    "C": "Variance explained by the first factor",
    "F": "Weights of the main factors",
}
_COLUMNS = {
    "mean_variation": "Average relative change",
    "mean_absolute_error": "Mean absolute error",
    "mean_square_error": "Mean square error",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class LossTable:
    """Rows are what is compared, columns are how the difference is measured."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    variables: tuple[str, ...]


def loss_table(scorecard: Scorecard) -> LossTable | None:
    """Read the table in the details of the information-loss measurement, if there is one."""
    measurement = measurement_of(scorecard, "informationloss")
    table = None if measurement is None else measurement.details.get("table")
    if measurement is None or not isinstance(table, Mapping) or not table:
        return None
    rows = [
        (_ROWS.get(name, str(name)), tuple(_cell(row.get(c), c) for c in _COLUMNS))
        for name, row in table.items()
    ]
    variables = tuple(map(str, measurement.details.get("columns", ())))
    return LossTable(tuple(_COLUMNS.values()), tuple(rows), variables)


def _cell(value: Any, column: str) -> str:
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return percent(value) if column == "mean_variation" else three_digits(float(value))


def three_digits(value: float) -> str:
    """Print the first three digits of a number that may be very large or very small.

    Examples
    --------
    >>> three_digits(230152.67), three_digits(1.2425e12), three_digits(3.767e-06)
    ('230,000', '1.24 × 10¹²', '3.77 × 10⁻⁶')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return number(float(f"{value:.3g}"))
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits} × 10{str(int(power)).translate(_SUPERSCRIPTS)}"
