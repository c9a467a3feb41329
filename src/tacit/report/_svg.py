"""Drawing in SVG that can stand inside a page: small, labelled, without outside references.

The pictures of a report are drawn here and not by Vega, which the charts for notebooks use: to
start Vega takes as long as all the rest of a small release, and fifty milliseconds for each chart.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.report._bins import nice_step, number

if TYPE_CHECKING:
    from markupsafe import Markup

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LABEL_SIZE = 11.5
_MONTHS, _DAYS = (1, 2, 3, 6), (1, 2, 7, 14, 28)


class Drawing:
    """Shapes and words on a sheet; text has the colour of the surrounding page."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "start",
        size: float = LABEL_SIZE,
        opacity: float = 1.0,
        turned: bool = False,
    ) -> None:
        """Write words whose anchor stands at a point, on request rising to the right."""
        from markupsafe import escape

        faint = "" if opacity == 1 else f' opacity="{opacity:g}"'
        turn = " rotate(-40)" if turned else ""
        self._parts.append(
            f'<text text-anchor="{anchor}" transform="translate({_at(x)},{_at(y)}){turn}" '
            f'font-size="{size:g}px"{faint}>{escape(words)}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, opacity: float = 1.0
    ) -> None:
        """Fill a rectangle."""
        faint = "" if opacity == 1 else f' opacity="{opacity:.2f}"'
        self._parts.append(
            f'<path d="M{_at(x)},{_at(y)}h{_at(width)}v{_at(height)}h{_at(-width)}Z" '
            f'fill="{colour}"{faint}/>'
        )

    def line(self, x: float, y: float, x2: float, y2: float, opacity: float) -> None:
        """Draw a thin straight line."""
        self._parts.append(
            f'<path d="M{_at(x)},{_at(y)}L{_at(x2)},{_at(y2)}" stroke="currentColor" '
            f'stroke-opacity="{opacity:g}"/>'
        )

    def path(
        self, corners: Iterable[tuple[float, float]], colour: str, width: float, fill: float = 0.0
    ) -> None:
        """Draw an open line through corners, and fill what is under it."""
        points = "L".join(f"{_at(x)},{_at(y)}" for x, y in corners)
        filled = f'fill="{colour}" fill-opacity="{fill:g}"' if fill else 'fill="none"'
        self._parts.append(
            f'<path d="M{points}" {filled} stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def finished(self, width: float, height: float, *, title: str, description: str) -> Markup:
        """Return the drawing with a title and a description for those who cannot see it."""
        from markupsafe import Markup, escape

        head = (
            f'<svg viewBox="0 0 {_at(width)} {_at(height)}" style="max-width:{_at(width)}px" '
            f'role="img" font-family="{FONT}" fill="currentColor" '
            f'aria-label="{escape(title)}. {escape(description)}"><title>{escape(title)}</title>'
        )
        return Markup(f"{head}{''.join(self._parts)}</svg>")  # noqa: S704 - escaped above


def _at(position: float) -> str:
    return f"{position:.2f}".rstrip("0").rstrip(".")


# -- words -------------------------------------------------------------------------------------


def width_of(words: str, size: float = LABEL_SIZE) -> float:
    """Estimate how wide words are, in pixels, not knowing the reader's font."""
    wide = sum(c in "%MW@…" or unicodedata.east_asian_width(c) in "WF" for c in words)
    return size * (0.6 * (len(words) - wide) + wide)


def cut(words: str, limit: float) -> str:
    """Return as many of the words as a label of this width shows."""
    if width_of(words) <= limit:
        return words
    kept = words
    while kept and width_of(f"{kept}…") > limit:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


# -- axes --------------------------------------------------------------------------------------


def ticks(low: float, high: float, count: int) -> list[float]:
    """Return at most `count` + 1 round numbers between two.

    Examples
    --------
    >>> ticks(0, 60, 5), ticks(0.12, 0.9, 4)
    ([0.0, 20.0, 40.0, 60.0], [0.2, 0.4, 0.6, 0.8])
    """
    step = nice_step((high - low) / count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits, slack = 12 - math.floor(math.log10(step)), 1e-9 * step
    found = (round(i * step, digits) for i in range(first, last + 1))
    # Between numbers that differ in their last digits only, several multiples are the same number.
    inside = dict.fromkeys(t for t in found if low - slack <= t <= high + slack)
    return list(inside)[: count + 1] or [low]


def numbers_marked(edges: Sequence[float]) -> dict[float, str]:
    """Choose where an axis of numbers is marked, and what is written there."""
    low, high = edges[0], edges[-1]
    if len(edges) <= 10 and all((e - 0.5) % 1 == 0 for e in edges):
        return {e + 0.5: f"{e + 0.5:,.0f}" for e in edges[:-1]}
    largest = max(abs(low), abs(high))
    is_long = largest >= 1e15 or largest < 1e-3
    return {t: _shortest(t, largest) for t in ticks(low, high, 3 if is_long else 5)}


def _shortest(value: float, largest: float) -> str:
    """Print a number on an axis whose largest number is given."""
    if value == 0:
        return "0"
    if largest >= 1e15 or largest < 1e-3:
        mantissa, _, power = f"{value:.2e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power):+d}"
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if largest >= size:
            return f"{value / size:.4g}{letter}"
    return number(value)


def days_marked(low: float, high: float) -> dict[float, str]:
    """Choose where an axis of days since 1970 is marked: years, months or days.

    Examples
    --------
    >>> days_marked(0, 800)
    {0.0: '1970-01', 181.0: '1970-07', 365.0: '1971-01', 546.0: '1971-07', 730.0: '1972-01'}
    """
    span = high - low
    for unit, length, steps in (("D", 1.0, _DAYS), ("M", 30.44, _MONTHS)):
        for step in steps:
            if span / length / step <= 5:
                return _marked(low, high, unit, step)
    return _marked(low, high, "Y", int(nice_step(span / 365.25 / 5, is_whole=True)))


def _marked(low: float, high: float, unit: str, step: int) -> dict[float, str]:
    ends = np.array([math.floor(low), math.ceil(high)], dtype="datetime64[D]")
    first, last = ends.astype(f"datetime64[{unit}]").astype(np.int64)
    shift = -1970 if unit == "Y" else 0  # round years, not round numbers of years since 1970
    at = np.arange(first, last + 1)
    at = at[(at - shift) % step == 0].astype(f"datetime64[{unit}]")
    days = at.astype("datetime64[D]").astype(np.int64)
    return {float(d): str(t) for d, t in zip(days, at, strict=True) if low <= d <= high}
