"""The charts of the report beyond single variables, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.measurement import Measurement
from tacit.core.pairing import pair
from tacit.core.release import Release
from tacit.core.scorecard import Scorecard
from tacit.report._cards import measurement_of
from tacit.report._charts import percent
from tacit.report._pictures import (
    correlation_picture,
    crossing_picture,
    curve_picture,
    tally_picture,
)
from tacit.report._relation_charts import CorrelationChange, Crossing
from tacit.report._risk_charts import READ_OFF, own_ranks, shares_above, tally_ranks
from tacit.report._tally import ORIGINAL, RELEASE, legible
from tacit.report._variables import in_words

if TYPE_CHECKING:
    from markupsafe import Markup

_MOST_ROWS = 12


@dataclass(frozen=True)
class Plot:
    """A chart with its heading, what it shows, and the numbers behind it."""

    key: str
    heading: str
    text: str
    svg: Markup
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_legend: bool = False


# -- risk --------------------------------------------------------------------------------------


def risk_plots(release: Release, scorecard: Scorecard) -> list[Plot]:
    """Chart the risk curve and the success of linkage, where they were measured."""
    return [*_curve(scorecard), *_ranks(release, scorecard)]


def _curve(scorecard: Scorecard) -> Iterator[Plot]:
    for name in ("individualrisk", "identificationrisk", "kanonymity"):
        after = measurement_of(scorecard, name)
        risks = None if after is None else _risks(after)
        if after is not None and risks is not None:
            before = scorecard.before.get(after.key)
            yield _curve_of(after, None if before is None else _risks(before), risks)
            return


def _risks(measurement: Measurement) -> np.ndarray | None:
    """Return the risk of each record; of a class of f records it is 1/f."""
    if measurement.per_unit is None or not len(measurement.per_unit):
        return None
    values = np.asarray(measurement.per_unit, dtype=float)
    return 1.0 / np.maximum(values, 1.0) if measurement.key == "k-anonymity" else values


def _curve_of(measurement: Measurement, before: np.ndarray | None, after: np.ndarray) -> Plot:
    heading = "Records above a risk"
    of = (
        "one over the number of records that share the keys"
        if measurement.key == "k-anonymity"
        else measurement.title.lower()
    )
    shown = [shares_above(side, READ_OFF) for side in (before, after) if side is not None]
    rows = tuple(
        (f"{100 * t:g} %", *(percent(float(s[i])) for s in shown)) for i, t in enumerate(READ_OFF)
    )
    series = (ORIGINAL, RELEASE) if before is not None else (RELEASE,)
    said = f"Share of records with a risk of at least 10 %: {rows[2][-1]} in the release."
    svg = curve_picture(before, after, title=heading, description=said)
    text = f"Share of records whose risk ({of}) is at least the one below. {said}"
    return Plot("curve", heading, text, svg, ("At least", *series), rows, has_legend=True)


def _ranks(release: Release, scorecard: Scorecard) -> Iterator[Plot]:
    linkage = measurement_of(scorecard, "distancelinkage")
    if linkage is None:
        return
    names = list(map(str, linkage.details.get("attributes") or ()))
    try:
        ranks = own_ranks(pair(release.original, release), names or None)
    except TacitError:
        return  # the measure itself has said why in the list of measures not taken
    if not len(ranks):
        return
    tally, heading = tally_ranks(ranks), "How far a linking intruder is off"
    text = (
        f"For {len(ranks):,} people: the place of the right record among all released ones, sorted "
        f"by how near they are on {', '.join(legible(n) for n in names)}. Place 1 is a right link."
    )
    rows = tuple((label, f"{cells[0][0]:,}") for label, cells in tally.rows())
    svg = tally_picture(tally, title=heading, description=in_words(tally), numbers="count")
    yield Plot("ranks", heading, text, svg, ("Place", "People"), rows)


# -- relations ---------------------------------------------------------------------------------


def relation_plots(release: Release, scorecard: Scorecard) -> list[Plot]:
    """Chart the correlations and the pair of variables that changed most, where measured."""
    measured = ("informationloss", "probabilisticloss")
    if all(measurement_of(scorecard, name) is None for name in measured):
        return []
    change = CorrelationChange.of(release.original, release.data)
    return [] if change is None else [_correlations(change), *_crossing(release, change)]


def _correlations(change: CorrelationChange) -> Plot:
    heading = "Change of correlations"
    found = change.rows()
    name, before, after = found[0]
    said = f"Most changed: {legible(name)}, {before:.2f} in the original and {after:.2f} now."
    svg = correlation_picture(change, title=heading, description=said)
    text = f"Release minus original; orange is lower, teal is higher. {said}"
    rows = tuple((legible(n), f"{a:.3f}", f"{b:.3f}") for n, a, b in found[:_MOST_ROWS])
    return Plot("correlations", heading, text, svg, ("Variables", ORIGINAL, RELEASE), rows)


def _crossing(release: Release, change: CorrelationChange) -> Iterator[Plot]:
    x, y = change.most_changed
    crossing = Crossing.of(release.original, release.data, x, y)
    if crossing is None or not all(t.any() for t in crossing.counts.values()):
        return
    names = legible(x), legible(y)
    heading = f"{names[0]} and {names[1]}"
    said = f"{names[0]} from left to right, {names[1]} upwards; darker classes hold more records."
    svg = crossing_picture(crossing, title=heading, description=said)
    text = f"The two numbers whose correlation changed most. {said}"
    yield Plot("crossing", heading, text, svg, (), ())
