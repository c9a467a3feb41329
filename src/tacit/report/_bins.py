"""Rounded bins for numbers and dates, the same before and after."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

TAIL = 0.005
"""Share of the records at each end that may share one open-ended bin."""
N_BINS = 24
"""Most bins aimed at."""
_MOST_GROWING = 12
_FEW = 3
"""A bin that shows a single number at the end of the range holds at least so many records."""
_LUMP = 0.7
"""From this share of records in one of many bins, bins of growing width say more."""
_DAYS = {"1d": 1, "1w": 7, "1mo": 30.4, "1q": 91.3, "1y": 365.25}


@dataclass(frozen=True)
class Bins:
    """Adjoining bins that hold every value; the first and the last may be open-ended."""

    edges: tuple[float, ...]
    labels: tuple[str, ...]
    is_even: bool = True
    """Whether the bins can be drawn to scale."""
    note: str = ""

    def count(self, values: np.ndarray) -> tuple[int, ...]:
        """Return the number of values in each bin."""
        position = np.searchsorted(self.edges, values, side="right") - 1
        position = np.clip(position, 0, len(self.labels) - 1)
        counts = np.bincount(position, minlength=len(self.labels))
        return tuple(int(c) for c in counts)

    def centred(self) -> Bins:
        """Return bins of width one with the whole number they hold in their middle."""
        return replace(self, edges=tuple(e - 0.5 for e in self.edges))


def of_numbers(samples: Iterable[np.ndarray]) -> Bins | None:
    """Choose bins for finite numbers: even ones, or of growing width for very skewed values."""
    known = [s for s in samples if len(s)]
    if not known:
        return None
    is_whole = all(np.all(s == np.floor(s)) for s in known)
    even = _even(known, is_whole)
    if even is None:
        return None
    shares = np.asarray(even.count(known[0])) / len(known[0])
    if len(even.labels) > 8 and shares.max() > _LUMP:
        return _growing(known) or even
    return even


def _even(samples: list[np.ndarray], is_whole: bool) -> Bins | None:
    low, high = _range(samples)
    width = (high - low) / _n_bins(samples) if high > low else abs(low) / 10
    step = nice_step(width, is_whole=is_whole)
    if not math.isfinite(step):
        return None
    is_single = is_whole and step == 1
    if is_single:
        low, high = _common_range(samples, low, high)
    first = math.floor(low / step) * step
    edges = first + step * np.arange(int((high - first) / step) + 2)
    if not np.all(np.diff(edges) > 0):
        return None
    bins = _with_open_ends(edges, samples, single=is_single)
    return bins.centred() if is_single else bins


def _common_range(samples: list[np.ndarray], low: float, high: float) -> tuple[float, float]:
    """Shrink a range whose bins show single numbers to those that some records share."""
    crowd = [np.sort(s)[[_FEW - 1, -_FEW]] for s in samples if len(s) > 2 * _FEW]
    if not crowd:
        return low, high
    return max(low, min(float(c[0]) for c in crowd)), min(high, max(float(c[1]) for c in crowd))


def _with_open_ends(edges: np.ndarray, samples: list[np.ndarray], *, single: bool) -> Bins:
    """Add a bin at each end for the values beyond it."""
    step = edges[1] - edges[0]
    below = min(s.min() for s in samples) < edges[0]
    above = max(s.max() for s in samples) >= edges[-1]
    if below:
        edges = np.r_[edges[0] - step, edges]
    if above:
        edges = np.r_[edges, edges[-1] + step]
    return _labelled(edges, below=below, above=above, single=single)


def _n_bins(samples: list[np.ndarray]) -> int:
    """Return twice the cube root of the number of values: few values, few bins."""
    n_values = max(len(s) for s in samples)
    return min(N_BINS, max(5, math.ceil(2 * math.cbrt(n_values))))


def _range(samples: list[np.ndarray]) -> tuple[float, float]:
    ends = [np.quantile(s, [TAIL, 1 - TAIL], method="nearest") for s in samples]
    return float(min(e[0] for e in ends)), float(max(e[1] for e in ends))


def _labelled(edges: np.ndarray, *, below: bool, above: bool, single: bool) -> Bins:
    texts = [number(e) for e in edges]
    labels = texts[:-1] if single else [f"{a} to {b}" for a, b in pairwise(texts)]
    notes = []
    if below:
        labels[0] = f"below {texts[1]}"
        notes.append(f"the first bar holds all values below {texts[1]}")
    if above:
        labels[-1] = f"{texts[-2]} and above"
        notes.append(f"the last bar holds all values of {texts[-2]} and above")
    note = "; ".join(notes)
    return Bins(tuple(edges.tolist()), tuple(labels), note=note[:1].upper() + note[1:])


def nice_step(width: float, *, is_whole: bool = False) -> float:
    """Return a round number (1, 2, 2.5 or 5 times a power of ten) not below `width`.

    Examples
    --------
    >>> nice_step(17), nice_step(230), nice_step(0.3, is_whole=True)
    (20.0, 250.0, 1.0)
    """
    if not math.isfinite(width):
        return math.inf
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    for factor in (1, 2, 2.5, 5, 10):
        step = factor * power
        if step >= width and not (is_whole and step != math.floor(step)):
            return max(step, 1.0) if is_whole else step
    return 10 * power if not is_whole else 1.0


def _growing(samples: list[np.ndarray]) -> Bins | None:
    """Return bins at 1, 2, 5, 10, 20, ... of the values above zero, and one for each rest."""
    positive = [s[s > 0] for s in samples]
    positive = [s for s in positive if len(s)]
    if not positive:
        return None
    low = min(float(np.quantile(s, 0.02, method="nearest")) for s in positive)
    high = max(float(np.quantile(s, 1 - TAIL, method="nearest")) for s in positive)
    steps = _one_two_five(low, high)
    if len(steps) < 3:
        return None
    has_negative = any((s < 0).any() for s in samples)
    edges = np.array(([-1.0] if has_negative else []) + [0.0, *steps, 2 * steps[-1]])
    bins = _labelled(edges, below=has_negative, above=True, single=False)
    note = "The classes are not equally wide: most values are small and a few are very large"
    return Bins(bins.edges, bins.labels, is_even=False, note=note)


def _one_two_five(low: float, high: float) -> list[float]:
    """Return round limits from below `low` to `high`, in tens only where there are too many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1, 2, 5), (1, 3), (1,)):
        every = [f * 10.0**e for e in range(first, last + 1) for f in factors]
        every = [e for e in every if low <= e <= high]
        if len(every) <= _MOST_GROWING:
            return every
    stride = math.ceil(len(every) / (_MOST_GROWING))
    return every[::stride]


# -- dates -------------------------------------------------------------------------------------


def of_dates(samples: Iterable[np.ndarray]) -> Bins | None:
    """Choose periods (days, weeks, months, quarters, years) for days since 1970."""
    known = [s for s in samples if len(s)]
    if not known:
        return None
    low, high = _range(known)
    every = _period(high - low)
    starts = _starts(low, high, every)
    below = min(s.min() for s in known) < starts[0]
    above = max(s.max() for s in known) >= starts[-1]
    labels = _period_labels(starts[:-1], every)
    notes = []
    if below:
        notes.append("The first bar holds earlier dates too")
    if above:
        notes.append("The last bar holds later dates too")
    return Bins(tuple(starts), tuple(labels), note=". ".join(notes))


def _period(days: float) -> str:
    for every, length in _DAYS.items():
        if days / length <= 1.5 * N_BINS:
            return every
    years = nice_step(days / 365.25 / N_BINS, is_whole=True)
    return f"{int(years)}y"


def _starts(low: float, high: float, every: str) -> list[float]:
    """Return the first day of each period from `low` to `high`, and of the period after."""
    import polars as pl

    ends = pl.Series([int(low), int(high)], dtype=pl.Int32).cast(pl.Date).dt.truncate(every)
    starts = [int(ends.to_physical()[0])]
    last = int(ends.to_physical()[1])
    while starts[-1] <= last:
        day = pl.Series([starts[-1]], dtype=pl.Int32).cast(pl.Date)
        starts.append(int(day.dt.offset_by(every).to_physical()[0]))
    return [float(s) for s in starts]


def _period_labels(starts: list[float], every: str) -> list[str]:
    import polars as pl

    days = pl.Series([int(s) for s in starts], dtype=pl.Int32).cast(pl.Date)
    match every:
        case "1d":
            return days.dt.to_string("%Y-%m-%d").to_list()
        case "1w":
            return [f"week of {d}" for d in days.dt.to_string("%Y-%m-%d")]
        case "1mo":
            return days.dt.to_string("%Y-%m").to_list()
        case "1q":
            quarters = zip(days.dt.year(), days.dt.quarter(), strict=True)
            return [f"{year} Q{quarter}" for year, quarter in quarters]
        case "1y":
            return [str(y) for y in days.dt.year()]
        case _:
            return [f"from {y}" for y in days.dt.year()]


# -- text --------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Print a number shortly, with thousands separated.

    Examples
    --------
    >>> number(250000.0), number(0.25), number(-3.0)
    ('250,000', '0.25', '-3')
    """
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.3g}"
    if abs(value) >= 1000:
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def first_number(label: str) -> float | None:
    """Return the number with which a label such as ``[20, 30)``, ``< 18`` or ``85+`` begins.

    Examples
    --------
    >>> first_number("[20, 30)"), first_number("N11")
    (20.0, None)
    """
    found = re.match(r"[\s\[(<>=≤≥]*(-?\d[\d,]*(?:\.\d+)?)", label)
    return float(found[1].replace(",", "")) if found else None
