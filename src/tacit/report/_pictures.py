"""The pictures of a report, drawn from counts: the look of the charts without starting Vega."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tacit.report._charts import AFTER_COLOUR, BEFORE_COLOUR, WIDTH, bar_rows
from tacit.report._relation_charts import GAINED_COLOUR, LOST_COLOUR, cell_of, panel_strengths
from tacit.report._risk_charts import THRESHOLDS, shares_above
from tacit.report._svg import (
    LABEL_SIZE,
    Drawing,
    cut,
    days_marked,
    numbers_marked,
    ticks,
    width_of,
)
from tacit.report._tally import ORIGINAL, RELEASE, Tally, short

if TYPE_CHECKING:
    from markupsafe import Markup

    from tacit.report._relation_charts import CorrelationChange, Crossing

_COLOURS = {ORIGINAL: BEFORE_COLOUR, RELEASE: AFTER_COLOUR}
_LOOKS = {ORIGINAL: (1.0, 0.75), RELEASE: (2.0, 0.12)}
"""Width of a histogram's outline and how strongly it is filled."""
_BAR, _HEIGHT, _CELL, _PANEL = 12, 130, 26, 190
_TOP, _RIGHT, _GAP, _LABEL = 8, 8, 5, 135
_ROOM = 1.22
"""Room to the right of the longest bar for its number."""
_FALL = 0.64
"""Height of a turned label as a share of its length."""
_GRID, _AXIS = 0.13, 0.35


def tally_picture(tally: Tally, *, title: str, description: str, numbers: str = "share") -> Markup:
    """Draw a tally: to scale where it has limits on a number line, otherwise as bars."""
    drawing = Drawing()
    height = _bars(drawing, tally, numbers) if tally.edges is None else _histogram(drawing, tally)
    return drawing.finished(WIDTH, height, title=title, description=description)


def _bars(drawing: Drawing, tally: Tally, numbers: str) -> float:
    """Draw bands as horizontal bars, the series in pairs, each with its number."""
    rows, longest = bar_rows(tally, numbers)
    labels = [cut(label, _LABEL) for label in tally.labels]
    left = max(map(width_of, labels)) + _GAP
    step = _BAR * len(tally.counts) / 0.7
    for i, label in enumerate(labels):
        middle = _TOP + step * (i + 0.35)
        drawing.text(left - _GAP, middle + 4, label, anchor="end")
    for place, row in enumerate(rows):
        series, band = divmod(place, len(labels))
        y = _TOP + step * band + _BAR * series
        length = (WIDTH - left - _RIGHT) * row["length"] / (_ROOM * longest)
        if length > 0:
            drawing.box(left, y, length, _BAR, _COLOURS[row["series"]])
        drawing.text(left + length + 4, y + 9, row["text"], size=10.5, opacity=0.85)
    return _TOP + step * (len(labels) - 0.3) + _TOP


def _histogram(drawing: Drawing, tally: Tally) -> float:
    """Draw bins to scale: the original filled, the release as an outline over it."""
    edges = np.asarray(tally.edges, dtype=float)
    heights = {series: tally.shares(series) for series in tally.counts}
    left, top = _share_axis(drawing, max(float(h.max()) for h in heights.values()))
    low, high = float(edges[0]), float(edges[-1])
    pixels = WIDTH - left - _RIGHT
    marks = days_marked(low, high) if tally.is_date else numbers_marked(tuple(edges.tolist()))
    across = left + pixels * (edges - low) / (high - low)
    for series, shares in heights.items():
        y = _TOP + _HEIGHT * (1 - shares / top)
        width, fill = _LOOKS[series]
        drawing.path(_outline(across, y), _COLOURS[series], width, fill)
    placed = {left + pixels * (at - low) / (high - low): words for at, words in marks.items()}
    return _marked_axis(drawing, left, placed)


def _outline(across: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """Return the corners of a histogram, from the ground and back to it."""
    ground = float(_TOP + _HEIGHT)
    tops = [
        corner for (a, b), h in zip(pairwise(across), y, strict=True) for corner in ((a, h), (b, h))
    ]
    return [(across[0], ground), *tops, (across[-1], ground)]


def _share_axis(drawing: Drawing, largest: float) -> tuple[float, float]:
    """Draw lines at round shares and return where the plot begins and the share at its top."""
    marks = ticks(0, largest, 4)
    step = marks[1] - marks[0] if len(marks) > 1 else largest
    if marks[-1] < largest - 1e-9:
        marks.append(marks[-1] + step)
    words = [f"{100 * m:.4g}%" for m in marks]
    left = max(map(width_of, words)) + _GAP
    for at, written in zip(marks, words, strict=True):
        y = _TOP + _HEIGHT * (1 - at / marks[-1])
        drawing.line(left, y, WIDTH - _RIGHT, y, _GRID)
        drawing.text(left - _GAP, y + 4, written, anchor="end")
    return left, marks[-1]


def _marked_axis(drawing: Drawing, left: float, placed: dict[float, str]) -> float:
    """Draw the axis below a plot and return the height of the drawing."""
    ground = _TOP + _HEIGHT
    drawing.line(left, ground, WIDTH - _RIGHT, ground, _AXIS)
    end = -float(_GAP)
    for x, words in placed.items():
        drawing.line(x, ground, x, ground + 5, _AXIS)
        half = width_of(words) / 2
        middle = min(max(x, half), WIDTH - half)
        if middle - half >= end + _GAP:  # else the words before it take its place
            drawing.text(middle, ground + 19, words, anchor="middle")
            end = middle + half
    return ground + 24


# -- risk --------------------------------------------------------------------------------------


def curve_picture(
    before: np.ndarray | None, after: np.ndarray, *, title: str, description: str
) -> Markup:
    """Draw the share of records above each risk, the risks on a logarithmic scale."""
    drawing = Drawing()
    left, _ = _share_axis(drawing, 1.0)
    at = np.log10(THRESHOLDS) / 3 + 1
    across = left + (WIDTH - left - _RIGHT) * at
    for series, risks in ((ORIGINAL, before), (RELEASE, after)):
        if risks is not None:
            y = _TOP + _HEIGHT * (1 - shares_above(risks))
            # Up to a threshold all risks have the share of those that are at least as high.
            corners = [c for (a, b), (h, k) in zip(pairwise(across), pairwise(y), strict=True)
                       for c in ((a, h), (a, k), (b, k))]  # fmt: skip
            drawing.path(corners, _COLOURS[series], 2.5)
    marks = {left + (WIDTH - left - _RIGHT) * i / 3: f"{10**i / 10:g}%" for i in range(4)}
    height = _marked_axis(drawing, left, marks)
    return drawing.finished(WIDTH, height, title=title, description=description)


# -- relations ---------------------------------------------------------------------------------


def correlation_picture(change: CorrelationChange, *, title: str, description: str) -> Markup:
    """Draw the lower triangle: the number is the change, the colour says which way."""
    drawing = Drawing()
    names = [cut(short(name), _LABEL) for name in change.columns]
    left = max(map(width_of, names)) + _GAP
    width = (WIDTH - left - _RIGHT) / (len(names) - 1)
    for i in range(1, len(names)):
        y = _TOP + _CELL * (i - 1)
        drawing.text(left - _GAP, y + _CELL / 2 + 4, names[i], anchor="end")
        for j in range(i):
            cell = cell_of(change.after[i, j] - change.before[i, j])
            colour = GAINED_COLOUR if cell["way"] == "gained" else LOST_COLOUR
            drawing.box(left + width * j, y, width, _CELL, colour, cell["strength"])
            middle = left + width * (j + 0.5)
            drawing.text(middle, y + _CELL / 2 + 4, cell["text"], anchor="middle", size=10)
    ground = _TOP + _CELL * (len(names) - 1)
    places = [left + width * (j + 0.5) for j in range(len(names) - 1)]
    height = _turned_labels(drawing, places, names[:-1], ground)
    return drawing.finished(WIDTH, height, title=title, description=description)


def _turned_labels(
    drawing: Drawing, places: Sequence[float], labels: Sequence[str], ground: float
) -> float:
    """Write labels below a plot, as many as fit, and return where they end."""
    for x, label in list(zip(places, labels, strict=True))[:: _every(places, LABEL_SIZE / _FALL)]:
        drawing.text(x + 3, ground + 12, label, anchor="end", turned=True)
    return ground + 16 + _FALL * max(map(width_of, labels))


def _every(places: Sequence[float], needed: float = LABEL_SIZE) -> int:
    """Say that every label, or only every second, third ... has room."""
    apart = abs(places[1] - places[0]) if len(places) > 1 else needed
    return max(1, int(np.ceil(needed / apart)))


def crossing_picture(crossing: Crossing, *, title: str, description: str) -> Markup:
    """Draw counts as the strength of a colour, the original beside the release."""
    drawing = Drawing()
    x_labels, y_labels = ([cut(label, _LABEL) for label in side] for side in crossing.labels)
    left, width = max(map(width_of, y_labels)) + _GAP, WIDTH // 2 - 20
    top, cell = 20, (width / len(x_labels), _PANEL / len(y_labels))
    rows = [top + cell[1] * (len(y_labels) - j - 0.5) for j in range(len(y_labels))]
    for y, label in list(zip(rows, y_labels, strict=True))[:: _every(rows)]:
        drawing.text(left - _GAP, y + 4, label, anchor="end")
    height = 0.0
    for panel, (series, strengths) in enumerate(panel_strengths(crossing).items()):
        start = left + panel * (width + 14)
        drawing.text(start + width / 2, 12, series, anchor="middle", size=11)
        for i, j in zip(*np.nonzero(strengths), strict=True):
            at = start + cell[0] * i, rows[j] - cell[1] / 2
            drawing.box(*at, *cell, AFTER_COLOUR, 0.08 + 0.92 * float(strengths[i, j]))
        places = [start + cell[0] * (i + 0.5) for i in range(len(x_labels))]
        height = _turned_labels(drawing, places, x_labels, top + _PANEL)
    whole = left + 2 * width + 14 + _RIGHT
    return drawing.finished(whole, height, title=title, description=description)
