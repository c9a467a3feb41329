"""Charts of a protected table: how wide intervals are, how far values moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tacit.report._tally import RELEASE, Tally

if TYPE_CHECKING:
    from tacit.report._variables import Figure
    from tacit.tables import Audit, ProtectedTable

_WIDTHS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
_RATIOS = (0.0, 1.0, 1.5, 2.0, 5.0, 10.0, 100.0)
_MOVES = (0.0, 1e-12, 0.01, 0.05, 0.1, 0.25, 0.5)


def interval_figures(audit: Audit) -> list[Figure]:
    """Chart the intruder's intervals: beside the value, and beside what was required."""
    if not len(audit.cells):
        return []
    width = audit.high - audit.low
    value = np.abs(audit.table.value[audit.cells])
    required = np.maximum(audit.below + audit.above, audit.width)
    wide = "An interval proven to be wide enough may be wider than shown."
    charts = [
        ("Width of the interval as a share of the value", _share(width, value), _WIDTHS, _percents),
        ("Width as a multiple of what is required", _share(width, required), _RATIOS, _times),
    ]
    note = "" if audit.exact.all() else wide
    return [_figure(title, _bands(v, starts, words(starts)), note)
            for title, v, starts, words in charts]  # fmt: skip


def change_figures(protected: ProtectedTable) -> list[Figure]:
    """Chart how far published values are from the original, as a share of it."""
    table = protected.original
    shown = ~protected.suppressed & ~table.is_empty
    moved = np.abs(protected.published - table.value)[shown]
    share = _share(moved, np.abs(table.value[shown]))
    labels = ["unchanged", "below 1 %", *_percents(_MOVES)[2:]]
    return [_figure("Change as a share of the original value", _bands(share, _MOVES, labels), "")]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    share = np.full(len(part), np.inf)
    np.divide(part, whole, out=share, where=whole > 0)
    share[(part == 0) & (whole == 0)] = 0.0
    return share


def _percents(starts: Sequence[float]) -> list[str]:
    return _words([f"{100 * s:g}" for s in starts], " %")


def _times(starts: Sequence[float]) -> list[str]:
    return ["less than required", *_words([f"{s:g}" for s in starts], " times")[1:]]


def _words(texts: Sequence[str], unit: str) -> list[str]:
    between = [f"{a} to {b}{unit}" for a, b in pairwise(texts)]
    return [*between, f"{texts[-1]}{unit} and more"]


def _bands(values: np.ndarray, starts: Sequence[float], labels: Sequence[str]) -> Tally:
    # What an interval misses by rounding of floating point is not less than required.
    position = np.searchsorted(starts, values * (1 + 1e-6), side="right") - 1
    counts = np.bincount(np.clip(position, 0, None), minlength=len(starts))
    return Tally(tuple(labels), {RELEASE: tuple(counts.tolist())})


def _figure(title: str, tally: Tally, note: str) -> Figure:
    from tacit.report._pictures import tally_picture
    from tacit.report._variables import Figure, in_words

    svg = tally_picture(tally, title=title, description=in_words(tally), numbers="count")
    return Figure(svg, tally, caption=title, note=note)
