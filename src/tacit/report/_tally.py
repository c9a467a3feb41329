"""Counting a variable before and after: what the charts and their tables are drawn from.

Only counts leave this module. Numbers are put into rounded bins, categories that fewer than
`SMALLEST_GROUP` original records have are put together, so that no chart shows the value of a
single original record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Kind
from tacit.report import _bins

if TYPE_CHECKING:
    import polars as pl

ORIGINAL, RELEASE = "Original", "Release"
SMALLEST_GROUP = 3
"""Categories of fewer original records are never named."""
MOST_BARS = 10
MISSING = "(missing)"
LONGEST = 80
"""Characters of a label that are printed."""
_PLAIN_SHARE = 0.5
"""Share of records from which a column is taken for what it looks like."""


@dataclass(frozen=True)
class Tally:
    """How many records fall into each band, in the original, in the release, or in both."""

    labels: tuple[str, ...]
    """Name of each band."""
    counts: Mapping[str, tuple[int, ...]]
    """Records per band, for each series (`ORIGINAL`, `RELEASE`)."""
    edges: tuple[float, ...] | None = None
    """Limits of the bands on a number line, one more than bands; none for categories."""
    is_date: bool = False
    """Whether the limits are days since 1970."""
    note: str = ""
    """What a reader must know to read the chart."""

    def shares(self, series: str) -> np.ndarray:
        """Return each band's share of the records counted in a series."""
        counts = np.asarray(self.counts[series], dtype=float)
        return np.asarray(counts / max(counts.sum(), 1.0))

    def rows(self) -> list[tuple[str, list[tuple[int, float]]]]:
        """Return per band its label and, per series, count and share."""
        columns = [
            list(zip(self.counts[s], self.shares(s).tolist(), strict=True)) for s in self.counts
        ]
        return [(label, [column[i] for column in columns]) for i, label in enumerate(self.labels)]


def compare(original: Microdata | None, released: Microdata, column: str) -> tuple[Tally, ...]:
    """Count one variable in the original and in the release.

    One tally where both can share an axis; two, the original first, where the values were
    regrouped so that they cannot; none where there is nothing to show.
    """
    after = _Values.of(released, column)
    before = None if original is None else _Values.of(original, column)
    if before is not None:
        after = after.like(before)
    rare = _rare(before, after)
    if before is None:
        tallies = [_tally({RELEASE: after}, rare)]
    elif _share_an_axis(before, after):
        tallies = [_tally({ORIGINAL: before, RELEASE: after}, rare)]
    else:
        tallies = [_tally({ORIGINAL: before}, rare), _tally({RELEASE: after}, rare)]
    return tuple(t for t in tallies if t is not None and any(map(sum, t.counts.values())))


@dataclass(frozen=True)
class _Values:
    """One column in the form in which it can be counted."""

    form: str  # number, date or category
    series: pl.Series
    order: tuple[str, ...] | None = None
    unit: str = ""

    @classmethod
    def of(cls, data: Microdata, column: str) -> _Values:
        import polars as pl

        variable, series = data.schema[column], data.local[column]
        if variable.kind == Kind.NUMERIC and series.dtype.is_numeric():
            return cls("number", series.cast(pl.Float64))
        if series.dtype in (pl.Date, pl.Datetime):
            return cls("date", series.cast(pl.Date))
        if series.dtype == pl.Duration:
            return cls("number", series.dt.total_seconds() / 86_400, unit="In days")
        if series.dtype == pl.Time:
            return cls("number", series.dt.hour().cast(pl.Float64), unit="Hour of the day")
        return cls("category", series.cast(pl.String), order=variable.categories)

    def like(self, other: _Values) -> _Values:
        """Read categories that are mostly plain numbers ("34", "85+") as the numbers they were."""
        import polars as pl

        if (self.form, other.form) != ("category", "number"):
            return self
        plain = self.series.cast(pl.Float64, strict=False)
        known = self.series.len() - self.series.null_count()
        if plain.len() - plain.null_count() <= _PLAIN_SHARE * known:
            return self
        first = self.series.str.extract(r"(-?\d+(?:\.\d+)?)").cast(pl.Float64, strict=False)
        return _Values("number", plain.fill_null(first))


def _share_an_axis(before: _Values, after: _Values) -> bool:
    """Whether the released values are of the same form, and mostly among the original ones."""
    if before.form != after.form:
        return False
    released = after.series.drop_nulls()
    if before.form != "category" or released.is_empty():
        return True
    known = released.is_in(before.series.drop_nulls().unique().implode())
    return int(known.sum()) >= _PLAIN_SHARE * len(known)


def _rare(before: _Values | None, after: _Values) -> set[str]:
    """Return the categories that would give a single original record away if named."""
    source = before if before is not None and before.form == "category" else after
    if source.form != "category":
        return set()
    return {label for label, n in _counts(source.series).items() if n < SMALLEST_GROUP}


def _tally(columns: Mapping[str, _Values], rare: set[str]) -> Tally | None:
    form = next(iter(columns.values())).form
    return _categories(columns, rare) if form == "category" else _on_a_line(columns)


# -- numbers and dates -------------------------------------------------------------------------


def _on_a_line(columns: Mapping[str, _Values]) -> Tally | None:
    values = {name: _finite(column.series) for name, column in columns.items()}
    example = next(iter(columns.values()))
    is_date = example.form == "date"
    bins = _bins.of_dates(values.values()) if is_date else _bins.of_numbers(values.values())
    if bins is None:
        return None
    return Tally(
        labels=bins.labels,
        counts={name: bins.count(array) for name, array in values.items()},
        edges=bins.edges if bins.is_even else None,
        is_date=is_date,
        note=". ".join(part for part in (example.unit, bins.note) if part),
    )


def _finite(series: pl.Series) -> np.ndarray:
    import polars as pl

    days = series.to_physical() if series.dtype == pl.Date else series
    array = days.drop_nulls().cast(pl.Float64).to_numpy()
    return np.asarray(array[np.isfinite(array)])


# -- categories --------------------------------------------------------------------------------


def _categories(columns: Mapping[str, _Values], rare: set[str]) -> Tally | None:
    counts = {name: _counts(values.series) for name, values in columns.items()}
    shown, n_other = _shown(counts, rare, next(iter(columns.values())).order)
    if not shown:
        return None
    bands = [(label, [c.get(label, 0) for c in counts.values()]) for label in shown]
    if n_other:
        rest = [sum(c.values()) - c.get(None, 0) for c in counts.values()]
        rest = [r - sum(band[1][i] for band in bands) for i, r in enumerate(rest)]
        others = "1 other category" if n_other == 1 else f"{n_other:,} other categories"
        bands.append((others, rest))
    if any(None in c for c in counts.values()):
        bands.append((MISSING, [c.get(None, 0) for c in counts.values()]))
    return Tally(
        labels=_told_apart([short(label) for label, _ in bands]),
        counts={name: tuple(band[1][i] for band in bands) for i, name in enumerate(counts)},
    )


def _counts(series: pl.Series) -> dict[Any, int]:
    table = series.alias("label").value_counts(name="n")
    return dict(zip(table["label"].to_list(), table["n"].to_list(), strict=True))


def _shown(
    counts: Mapping[str, dict[Any, int]], rare: set[str], order: Sequence[str] | None
) -> tuple[list[str], int]:
    """Choose the categories that are named, in reading order, and count the others."""
    every = dict.fromkeys(label for c in counts.values() for label in c if label is not None)
    share = {
        label: max(c.get(label, 0) / sum(c.values()) for c in counts.values() if c)
        for label in every
        if label not in rare
    }
    top = sorted(share, key=lambda label: (-share[label], label))
    if len(every) > MOST_BARS + 1:
        top = top[:MOST_BARS]
    return _in_order(top, order), len(every) - len(top)


def _in_order(labels: list[str], order: Sequence[str] | None) -> list[str]:
    if order and set(order) & set(labels):
        position = {label: i for i, label in enumerate(order)}
        return sorted(labels, key=lambda label: position.get(label, len(position)))
    if labels and all(_bins.first_number(label) is not None for label in labels):
        return sorted(labels, key=lambda label: (_bins.first_number(label) or 0.0, label))
    return labels


def _told_apart(labels: list[str]) -> tuple[str, ...]:
    """Return the labels, numbered where two would look the same (a category “(missing)”)."""
    seen: dict[str, int] = {}
    apart = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        apart.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(apart)


def legible(text: str) -> str:
    """Return text without characters that a document cannot show."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def short(text: str) -> str:
    """Return legible text, cut where it is too long for a label."""
    return legible(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
