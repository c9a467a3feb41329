"""The analyses that a release hurts most, read from the details of the utility measurements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report._charts import percent
from tacit.report._loss import three_digits

MOST_PER_MEASURE = 4


@dataclass(frozen=True)
class Hurt:
    """One statistic that users will find changed."""

    measure: str
    what: str
    change: str
    """How far it moved, in words."""


def hurt_analyses(scorecard: Scorecard) -> list[Hurt]:
    """List the statistics that moved most, some of each utility measure."""
    return [
        Hurt(m.title, what[:1].upper() + what[1:], change)
        for m in scorecard.utilities
        for what, change in list(_found(m))[:MOST_PER_MEASURE]
    ]


def _found(measurement: Measurement) -> Iterator[tuple[str, str]]:
    details = measurement.details
    for row in details.get("worst") or ():
        if isinstance(row, Mapping) and "what" in row:
            change = _change(row)
            if change:
                yield str(row["what"]), change
    for row in details.get("tables") or ():
        if isinstance(row, Mapping) and row.get("hellinger", 0) > 0:
            moved = float(row["total_variation"])
            yield f"table of {' by '.join(row['columns'])}", f"{percent(moved)} of records moved"
    rows = [r for r in details.get("coefficients") or () if r.get("overlap", 1) < 1]
    for row in sorted(rows, key=lambda r: r["overlap"]):
        yield f"coefficient of {row['name']}", _overlap(row)


def _change(row: Mapping[str, Any]) -> str:
    """Say how far a statistic moved, in the terms of its measure."""
    if "overlap" in row:
        return _overlap(row)
    if "relative" in row:
        gone = row.get("release") is None
        return "no value left" if gone else f"{_from_to(row)} ({_signed(row)})"
    if "loss" in row:
        return _from_to(row)
    if "limit" in row:
        return _beyond(row)
    if row.get("change", 0) < 0:
        return f"log-likelihood lower by {three_digits(abs(row['change']))}"
    return ""


def _overlap(row: Mapping[str, Any]) -> str:
    return f"{_from_to(row)}, intervals overlap by {percent(float(row['overlap']))}"


def _from_to(row: Mapping[str, Any]) -> str:
    before, after = (_number(row.get(side)) for side in ("original", "release"))
    return f"{before} became {after}"


def _number(value: Any) -> str:
    if value is None or not math.isfinite(value):
        return "not defined" if value is None or math.isnan(value) else "∞"
    return three_digits(float(value))


def _signed(row: Mapping[str, Any]) -> str:
    share = float(row["relative"])
    sign = "+" if row["release"] > row["original"] else "−"
    return f"{sign}{percent(share)}" if math.isfinite(share) else "from zero"


def _beyond(row: Mapping[str, Any]) -> str:
    moved, limit = float(row["difference"]), float(row["limit"])
    if math.isnan(moved):
        return "no longer there"
    if limit == 0:
        return f"{moved:g} too few"
    if row.get("group") in ("margins", "distributions"):
        return f"{percent(moved)} of records moved, allowed {percent(limit)}"
    return f"moved by {_number(moved)} standard deviations, allowed {three_digits(limit)}"
