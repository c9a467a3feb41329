"""Charts of risk: who is above which risk, and how far a linking intruder is off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.pairing import Pair, pair
from tacit.report._charts import (
    AFTER_COLOUR,
    BEFORE_COLOUR,
    WIDTH,
    _banded,
    _legend,
    draw,
    themed,
)
from tacit.report._tally import ORIGINAL, RELEASE, Tally

if TYPE_CHECKING:
    import altair as alt

    from tacit.report._charts import AnyChart

THRESHOLDS = tuple(float(t) for t in np.geomspace(0.001, 1.0, 61))
"""Risks at which the curve is drawn."""
READ_OFF = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Risks that the table beside the curve shows."""
RANK_BANDS = (1, 2, 3, 6, 11, 51, 101)
_MOST_TARGETS, _MOST_PAIRS = 1000, 20_000_000
_HEIGHT = 170


def shares_above(risks: np.ndarray, thresholds: Sequence[float] = THRESHOLDS) -> np.ndarray:
    """Return the share of records with at least each risk; unknown risks are left out.

    Examples
    --------
    >>> shares_above(np.array([0.05, 0.2, 1.0, np.nan]), [0.1, 0.5]).round(2).tolist()
    [0.67, 0.33]
    """
    known = np.sort(np.asarray(risks, dtype=float))
    known = known[~np.isnan(known)]
    if not len(known):
        return np.zeros(len(thresholds))
    # Risks such as 1/3 must count as reaching themselves in spite of rounding.
    below = np.searchsorted(known, np.asarray(thresholds) * (1 - 1e-9), side="left")
    return np.asarray(1.0 - below / len(known))


def risk_curve(before: np.ndarray | None, after: np.ndarray) -> AnyChart:
    """Chart the share of records whose risk is at least a given one.

    Parameters
    ----------
    before, after
        Risk of each record, between 0 and 1, in the original and in the release.
    """
    chart = draw_curve(before, after)
    return themed(chart.properties(title=_legend("Share of records with at least this risk")))


def draw_curve(before: np.ndarray | None, after: np.ndarray) -> AnyChart:
    """Draw the curve without a title."""
    import altair as alt

    looks = {ORIGINAL: (before, BEFORE_COLOUR), RELEASE: (after, AFTER_COLOUR)}
    layers = [
        _curve(risks).mark_line(interpolate="step-before", stroke=colour, strokeWidth=2.5)
        for risks, colour in looks.values()
        if risks is not None
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=_HEIGHT)


def _curve(risks: np.ndarray) -> alt.Chart:
    import altair as alt

    shares = shares_above(risks)
    rows = [{"risk": t, "share": float(s)} for t, s in zip(THRESHOLDS, shares, strict=True)]
    marks = alt.Axis(values=[0.001, 0.01, 0.1, 1], format="~%", grid=False, title=None)
    scale = alt.Scale(type="log", domain=[THRESHOLDS[0], 1.0], nice=False)
    return alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("risk:Q", axis=marks, scale=scale),
        y=alt.Y(
            "share:Q",
            axis=alt.Axis(format=".0%", tickCount=4, title=None),
            scale=alt.Scale(domain=[0, 1]),
        ),
    )


# -- linkage -----------------------------------------------------------------------------------


def link_ranks(original: Any, release: Any, attributes: Sequence[str] | None = None) -> AnyChart:
    """Chart how near an intruder's nearest records are to the right one.

    Parameters
    ----------
    original, release
        Microdata or any frame of the same records; a release knows which record is whose.
    attributes
        Columns the intruder knows; by default the numbers that both files have.
    """
    chart = draw(tally_ranks(own_ranks(pair(original, release), attributes)), numbers="count")
    title = _legend("Rank of the right record among those nearest to a person")
    return themed(chart.properties(title=title))


def tally_ranks(ranks: np.ndarray) -> Tally:
    """Count people by the rank of their own record."""
    last = [b - 1 for b in RANK_BANDS[1:]]
    labels = [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(RANK_BANDS, last, strict=False)]
    labels[0] += " (found)"
    return _banded(RANK_BANDS, [*labels, f"{RANK_BANDS[-1]}+"], None, np.floor(ranks))


def own_ranks(both: Pair, attributes: Sequence[str] | None = None) -> np.ndarray:
    """Return for (a sample of) the released people the rank of their own record by distance.

    Rank 1 means that no other released record is as near; records as near as the own one share
    their ranks' average.
    """
    from tacit.risk._linkage_fields import chosen_attributes, linkage_fields
    from tacit.risk._linkage_space import space

    names = chosen_attributes(both, attributes, by="link-ranks")
    where = space(linkage_fields(both, names), "standardised", by="link-ranks")
    at, to = both.matched
    n_targets = max(50, min(_MOST_TARGETS, _MOST_PAIRS // max(len(where.points), 1)))
    chosen = np.unique(np.linspace(0, len(at) - 1, n_targets).astype(int)) if len(at) else at
    ranks = [
        _rank(where.targets[at[i]], where.points, to[i], where.n_measured, where.blank)
        for i in chosen
    ]
    return np.array(ranks)


def _rank(
    target: np.ndarray, points: np.ndarray, own: int, n_measured: int, blank: np.ndarray
) -> float:
    apart = (points - target) ** 2
    apart[:, n_measured:] = apart[:, n_measured:] > 0
    missing = np.isnan(points) | np.isnan(target)
    distances = np.where(missing, blank, apart).sum(axis=1)
    limit = distances[own] * (1 + 1e-9) + 1e-18
    nearer = int((distances < distances[own] * (1 - 1e-9)).sum())
    tied = int((distances <= limit).sum()) - nearer
    return nearer + (tied + 1) / 2
