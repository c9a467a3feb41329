"""Charts of a release, for the report, notebooks and the app: one look everywhere.

Text is drawn in the colour of the surrounding page and the two series in colours that read on
light and dark ground and in grey print: the original as a filled shape, the release as a line or a
darker bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.report._svg import FONT
from tacit.report._tally import ORIGINAL, RELEASE, Tally, compare

if TYPE_CHECKING:
    import altair as alt

    AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart

WIDTH = 312
"""Width of a chart in pixels: a phone held upright shows it nearly full size."""
BEFORE_COLOUR, AFTER_COLOUR = "#a3adb8", "#0f6674"
"""The style sheet of the report names these colours too, to change them on dark ground."""
SIZE_BANDS = (1, 2, 3, 5, 10, 20)
RISK_BANDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
_DAY = 86_400_000
_BAR, _HEIGHT = 12, 130
_ROOM = 1.22
"""Room to the right of the longest bar for its number."""


def before_after(original: Any, released: Any, column: str) -> AnyChart:
    """Chart one variable in the original and in the release, as shares of the records.

    Parameters
    ----------
    original, released
        Microdata or any frame; `released` may also be a release.
    column
        Name of a variable that both have.
    """
    import altair as alt

    after = Microdata.of(getattr(released, "data", released))
    tallies = compare(Microdata.of(original), after, column)
    parts: list[Any] = [draw(tally) for tally in tallies] or [_nothing()]
    stacked = alt.vconcat(*parts).resolve_scale(color="independent", yOffset="independent")
    return themed(stacked.properties(title=_legend(column)))


def class_sizes(before: np.ndarray | None, after: np.ndarray) -> AnyChart:
    """Chart how many records share their keys with how many others.

    Parameters
    ----------
    before, after
        For each record the number of records in its class, in the original and in the release.
    """
    chart = draw(tally_class_sizes(before, after), numbers="count")
    return themed(chart.properties(title=_legend("Records by the number that share their keys")))


def risk_bands(before: np.ndarray | None, after: np.ndarray) -> AnyChart:
    """Chart how many records have which probability of being identified."""
    chart = draw(tally_risks(before, after), numbers="count")
    return themed(chart.properties(title=_legend("Records by probability of being identified")))


def _legend(title: str) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(text=title, subtitle="grey: original, teal: release")


def _nothing() -> alt.Chart:
    import altair as alt

    empty = alt.Chart(alt.InlineData(values=[{}]))
    said: alt.Chart = empty.mark_text(text="no values to show", color="currentColor")
    return said


# -- counting ----------------------------------------------------------------------------------


def tally_class_sizes(before: np.ndarray | None, after: np.ndarray) -> Tally:
    """Count the records in classes of size 1, 2, 3-4, 5-9, 10-19, 20 and more."""
    last = [b - 1 for b in SIZE_BANDS[1:]]
    labels = [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(SIZE_BANDS, last, strict=False)]
    labels[0] += " (unique)"
    return _banded(SIZE_BANDS, [*labels, f"{SIZE_BANDS[-1]}+"], before, after)


def tally_risks(before: np.ndarray | None, after: np.ndarray) -> Tally:
    """Count the records per band of risk."""
    texts = [f"{100 * b:g} %" for b in RISK_BANDS]
    between = [f"{a.removesuffix(' %')}–{b}" for a, b in pairwise(texts[1:])]
    return _banded(RISK_BANDS, [f"< {texts[1]}", *between, f"≥ {texts[-1]}"], before, after)


def _banded(
    starts: Sequence[float], labels: Sequence[str], before: np.ndarray | None, after: np.ndarray
) -> Tally:
    given = {ORIGINAL: before, RELEASE: after}
    counts = {}
    for name, values in given.items():
        if values is not None:
            known = values[~np.isnan(np.asarray(values, dtype=float))]
            position = np.clip(np.searchsorted(starts, known, side="right") - 1, 0, None)
            counts[name] = tuple(np.bincount(position, minlength=len(starts)).tolist())
    return Tally(tuple(labels), counts)


# -- drawing -----------------------------------------------------------------------------------


def draw(tally: Tally, *, numbers: str = "share") -> AnyChart:
    """Chart a tally: to scale where it has limits on a number line, otherwise as bars.

    Parameters
    ----------
    tally
        Counts per band.
    numbers
        What is written at the end of a bar, ``share`` or ``count``.
    """
    return _histogram(tally) if tally.edges is not None else _bars(tally, numbers)


def _histogram(tally: Tally) -> AnyChart:
    """Draw bins to scale: the original filled, the release as an outline over it."""
    import altair as alt

    looks: dict[str, dict[str, Any]] = {
        ORIGINAL: {"stroke": BEFORE_COLOUR, "strokeWidth": 1, "fillOpacity": 0.75},
        RELEASE: {"stroke": AFTER_COLOUR, "strokeWidth": 2, "fillOpacity": 0.12},
    }
    layers = [
        _outline(tally, series).mark_line(
            interpolate="step-after", fill=looks[series]["stroke"], **looks[series]
        )
        for series in tally.counts
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=_HEIGHT)


def _outline(tally: Tally, series: str) -> alt.Chart:
    """Return the corners of a histogram's outline, from the ground and back to it."""
    import altair as alt

    edges = np.asarray(tally.edges) * (_DAY if tally.is_date else 1)
    heights = [*tally.shares(series), 0.0]
    corners = [(edges[0], 0.0), *zip(edges, heights, strict=True)]
    rows = [{"x": float(x), "y": float(y), "i": i} for i, (x, y) in enumerate(corners)]
    kind = "T" if tally.is_date else "Q"
    scale: dict[str, Any] = {"type": "utc"} if tally.is_date else {}
    marks = {} if tally.is_date else _marks(edges)
    axis = alt.Axis(**({"grid": False, "title": None, "tickCount": 5} | marks))
    return alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(f"x:{kind}", axis=axis, scale=alt.Scale(nice=False, zero=False, **scale)),
        y=alt.Y("y:Q", axis=alt.Axis(format=".0%", tickCount=4, title=None)),
        order="i:Q",
    )


def _marks(edges: np.ndarray) -> dict[str, Any]:
    """Choose where the axis is marked and how its numbers are written."""
    are_single_numbers = bool(np.all((edges - 0.5) % 1 == 0))
    if are_single_numbers and len(edges) <= 10:
        return {"values": [float(e + 0.5) for e in edges[:-1]], "format": ",d"}
    largest = float(np.abs(edges).max())
    if largest >= 1e15 or largest < 1e-3:
        return {"format": ".2~e", "tickCount": 3}
    if largest >= 1e6:
        return {"labelExpr": "replace(format(datum.value, '~s'), 'G', 'B')"}
    return {}


def _bars(tally: Tally, numbers: str) -> AnyChart:
    """Draw bands as horizontal bars, the series in pairs, each with its number."""
    import altair as alt

    rows, longest = bar_rows(tally, numbers)
    names = alt.Axis(labelLimit=120, ticks=False, domain=False)
    bands = alt.Scale(paddingInner=0.3, paddingOuter=0.1)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("label:N", sort=None, title=None, scale=bands, axis=names),
        x=alt.X("length:Q", axis=None, scale=alt.Scale(domain=[0, _ROOM * longest])),
        yOffset=alt.YOffset("series:N", sort=list(tally.counts)),
    )
    bars = base.mark_bar().encode(color=_colour(tally))
    written = base.mark_text(align="left", dx=4, fontSize=10.5, color="currentColor", opacity=0.85)
    layers: AnyChart = bars + written.encode(text="text:N")
    sized: AnyChart = layers.properties(width=WIDTH, height=alt.Step(_BAR))
    return sized


def bar_rows(tally: Tally, numbers: str) -> tuple[list[dict[str, Any]], float]:
    """Return one row per bar, and the length of the longest."""
    rows: list[dict[str, Any]] = []
    for series, counts in tally.counts.items():
        shares = tally.shares(series).tolist()
        for label, count, share in zip(tally.labels, counts, shares, strict=True):
            length = share if numbers == "share" else count
            text = percent(share) if numbers == "share" else f"{count:,}"
            rows.append({"label": label, "series": series, "length": length, "text": text})
    return rows, float(max(row["length"] for row in rows) or 1)


def percent(share: float) -> str:
    r"""Print a share as a percentage without false precision.

    Examples
    --------
    >>> percent(0.1234), percent(0.00004), percent(0.0)
    ('12\xa0%', '<\xa00.1\xa0%', '0\xa0%')
    """
    if share == 0:
        text = "0 %"
    elif share < 0.001:
        text = "< 0.1 %"
    else:
        text = f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _colour(tally: Tally) -> alt.Color:
    import altair as alt

    known = {ORIGINAL: BEFORE_COLOUR, RELEASE: AFTER_COLOUR}
    names = list(tally.counts)
    scale = alt.Scale(domain=names, range=[known[n] for n in names])
    return alt.Color("series:N", scale=scale, legend=None)


def themed(chart: Any) -> AnyChart:
    """Give a chart the one look of tacit."""
    import altair as alt

    if not isinstance(chart, alt.VConcatChart | alt.HConcatChart):
        chart = chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    styled: AnyChart = chart.configure(**_theme())
    return styled


def _theme() -> dict[str, Any]:
    ink = "currentColor"
    return {
        "background": "transparent",
        "font": FONT,
        "aria": False,
        "padding": {"left": 2, "right": 6, "top": 4, "bottom": 2},
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "labelFontSize": 11.5,
            "labelPadding": 5,
            "gridColor": ink,
            "gridOpacity": 0.13,
            "domainColor": ink,
            "domainOpacity": 0.35,
            "tickColor": ink,
            "tickOpacity": 0.35,
        },
        "axisY": {"domain": False, "ticks": False},
        "title": {"color": ink, "subtitleColor": ink, "fontSize": 13, "anchor": "start"},
    }
