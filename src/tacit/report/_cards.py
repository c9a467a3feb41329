"""The scorecard as cards, and the one-sentence verdict above them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.core.errors import UnknownMethodError
from tacit.core.measurement import Measurement
from tacit.core.method import Method, find
from tacit.core.scorecard import Scorecard
from tacit.report._definition import Definition, definition

DIRECTION = {"lower": "Lower is better", "higher": "Higher is better"}
_SMALLEST_GROUP = "Smallest group of records that share the same keys"


@dataclass(frozen=True)
class Card:
    """One measurement, ready to read."""

    title: str
    before: str | None
    after: str
    direction: str
    outcome: str
    """``better``, ``worse``, ``unchanged``, or nothing where there is no before."""
    explanation: str
    interval: str
    warnings: tuple[str, ...]
    definition: Definition | None


def cards(measurements: tuple[Measurement, ...], scorecard: Scorecard) -> list[Card]:
    """Return a card for each measurement."""
    return [_card(m, scorecard.before.get(m.key)) for m in measurements]


def _card(after: Measurement, before: Measurement | None) -> Card:
    method = known_measure(after.key)
    return Card(
        title=after.title,
        before=None if before is None else before.text,
        after=after.text,
        direction=DIRECTION[after.better],
        outcome="" if before is None else outcome(before, after),
        explanation=after.explanation,
        interval=_interval(after),
        warnings=after.warnings,
        definition=None if method is None else definition(method),
    )


def outcome(before: Measurement, after: Measurement) -> str:
    """Say whether a number became better, worse, or stayed as it was."""
    if math.isnan(before.value) or math.isnan(after.value):
        return ""
    if math.isclose(before.value, after.value, rel_tol=1e-9, abs_tol=1e-12):
        return "unchanged"
    is_lower = after.value < before.value
    return "better" if is_lower == (after.better == "lower") else "worse"


def _interval(measurement: Measurement) -> str:
    if measurement.interval is None:
        return ""
    from dataclasses import replace

    low, high = (replace(measurement, value=v).text for v in measurement.interval)
    return f"{low} to {high}"


def known_measure(key: str) -> type[Method] | None:
    """Return the measure of this key, if it is registered."""
    for family in ("risk", "utility"):
        try:
            return find(key, family)
        except UnknownMethodError:
            continue
    return None


def left_out(scorecard: Scorecard) -> list[tuple[str, str]]:
    """Return title and reason of each measure that was not taken."""
    found = []
    for key, reason in scorecard.left_out.items():
        method = known_measure(key)
        found.append((method.title if method else key, reason))
    return found


def measurement_of(scorecard: Scorecard, name: str) -> Measurement | None:
    """Find a measurement by key, whether written with dashes, underscores or neither."""
    for measurement in scorecard:
        if measurement.key.replace("-", "").replace("_", "") == name:
            return measurement
    return None


def verdict(scorecard: Scorecard) -> str:
    """Sum the measurements up in a sentence or two."""
    said = [_risk_sentence(scorecard), _loss_sentence(scorecard)]
    return " ".join(s for s in said if s) or "No measurement could be taken."


def _risk_sentence(scorecard: Scorecard) -> str:
    k = measurement_of(scorecard, "kanonymity")
    if k is not None:
        before = scorecard.before.get(k.key)
        said = _before_after(_SMALLEST_GROUP, before, k)
        hidden = _with_wildcards(k)
        return f"{said[:-1]} ({hidden})." if hidden else f"{said} {_alone(before, k)}".strip()
    for measurement in scorecard.risks:
        return _before_after(measurement.title, scorecard.before.get(measurement.key), measurement)
    return ""


def _with_wildcards(k: Measurement) -> str:
    """Say how large the smallest group is where suppressed values may hide a record."""
    readings = k.details.get("readings") or {}
    smallest = (readings.get("wildcard") or {}).get("smallest")
    if smallest is None or smallest == k.value:
        return ""
    return f"{smallest:,} if a suppressed value may stand for any value"


def _alone(before: Measurement | None, after: Measurement) -> str:
    """Say how many records are alone with their keys, where some still are."""
    if before is None or before.per_unit is None or after.per_unit is None or after.value > 1:
        return ""
    was, now = int((before.per_unit == 1).sum()), int((after.per_unit == 1).sum())
    return f"Records alone with their keys: {was:,} in the original, {now:,} now."


def _before_after(title: str, before: Measurement | None, after: Measurement) -> str:
    if before is None:
        return f"{title}: {after.text}."
    return f"{title}: {before.text} in the original, {after.text} now."


def _loss_sentence(scorecard: Scorecard) -> str:
    loss = measurement_of(scorecard, "informationloss") or next(iter(scorecard.utilities), None)
    return "" if loss is None else f"{loss.title}: {loss.text}."
