"""Charts of relations between variables, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Kind, Role
from tacit.report import _bins
from tacit.report._charts import AFTER_COLOUR, WIDTH, themed
from tacit.report._tally import MISSING, ORIGINAL, RELEASE, SMALLEST_GROUP, short

if TYPE_CHECKING:
    from tacit.report._charts import AnyChart

LOST_COLOUR, GAINED_COLOUR = "#c2571a", "#0f6674"
"""Correlations that fell and that rose."""
MOST_VARIABLES = 12
_NOT_SHOWN = {Role.WEIGHT, Role.HOUSEHOLD, Role.IDENTIFIER}
_MOST_LABELS = 10
_STRONGEST = 0.3
"""A change of a correlation by this much has the full colour."""
_CELL = 26
_CONTRAST = 0.4
"""Power of a share that gives the strength of its colour: small classes must show."""


@dataclass(frozen=True)
class CorrelationChange:
    """Correlations of the same numeric columns in two files."""

    columns: tuple[str, ...]
    before: np.ndarray
    after: np.ndarray

    @classmethod
    def of(cls, original: Microdata, released: Microdata) -> CorrelationChange | None:
        """Correlate the numbers that both files have, over complete records; none if below two."""
        numbers = [
            v.name
            for v in original.schema.variables
            if v.kind == Kind.NUMERIC
            and not v.roles & _NOT_SHOWN
            and v.name in released.schema
            and released.schema[v.name].kind == Kind.NUMERIC
        ][:MOST_VARIABLES]
        both = [_correlations(side.numeric(numbers)) for side in (original, released)]
        if len(numbers) < 2 or any(b is None for b in both):
            return None
        varies = ~np.isnan(np.diag(both[0]))
        if varies.sum() < 2:
            return None
        chosen = np.ix_(varies, varies)
        names = tuple(n for n, v in zip(numbers, varies, strict=True) if v)
        # A column that became constant tells nothing about others: correlation 0.
        return cls(names, both[0][chosen], np.nan_to_num(both[1][chosen]))

    @property
    def most_changed(self) -> tuple[str, str]:
        """The two columns whose correlation moved most."""
        moved = np.triu(np.abs(self.after - self.before), k=1)
        i, j = np.unravel_index(int(moved.argmax()), moved.shape)
        return self.columns[i], self.columns[j]

    def rows(self) -> list[tuple[str, float, float]]:
        """Return each pair with both correlations, the most changed first."""
        n = len(self.columns)
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        pairs.sort(key=lambda p: -abs(self.after[p] - self.before[p]))
        return [
            (f"{self.columns[i]} and {self.columns[j]}",
             float(self.before[i, j]), float(self.after[i, j]))
            for i, j in pairs
        ]  # fmt: skip


def _correlations(values: np.ndarray) -> Any:
    complete = values[np.isfinite(values).all(axis=1)]
    if len(complete) < SMALLEST_GROUP:
        return None
    size = np.abs(complete).max(axis=0)
    scaled = complete / np.where(size > 0, size, 1.0)
    centred = scaled - scaled.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    lengths[np.ptp(scaled, axis=0) < 1e-12] = np.nan
    return (centred / lengths).T @ (centred / lengths)


def correlation_change(original: Any, release: Any) -> AnyChart:
    """Chart how far the correlations of the numeric variables moved.

    Parameters
    ----------
    original, release
        Microdata or any frame; `release` may also be a release.
    """
    released = Microdata.of(getattr(release, "data", release))
    found = CorrelationChange.of(Microdata.of(original), released)
    if found is None:
        from tacit.report._charts import _nothing

        return themed(_nothing())
    return themed(draw_correlations(found).properties(title="Change of correlations"))


def draw_correlations(change: CorrelationChange) -> AnyChart:
    """Draw the lower triangle: the number is the change, the colour says which way."""
    import altair as alt

    names = [short(c) for c in change.columns]
    rows = [
        {"row": names[i], "column": names[j], **cell_of(change.after[i, j] - change.before[i, j])}
        for i in range(len(names))
        for j in range(i)
    ]
    axis = alt.Axis(title=None, labelLimit=110, ticks=False, domain=False, grid=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("column:N", sort=names, axis=alt.Axis(**axis.to_dict(), labelAngle=-40)),
        y=alt.Y("row:N", sort=names, axis=axis),
    )
    colour = alt.Color(
        "way:N",
        legend=None,
        scale=alt.Scale(domain=["lost", "gained"], range=[LOST_COLOUR, GAINED_COLOUR]),
    )
    strength = alt.Opacity("strength:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0, 1]))
    cells = base.mark_rect().encode(color=colour, opacity=strength)
    numbers = base.mark_text(fontSize=10, color="currentColor").encode(text="text:N")
    height = alt.Step(_CELL)
    drawn: AnyChart = (cells + numbers).properties(width=WIDTH, height=height)
    return drawn


def cell_of(moved: float) -> dict[str, Any]:
    """Return colour, strength and text of a change; strong colours stay readable under text."""
    strength = 0.62 * min(abs(moved) / _STRONGEST, 1.0)
    text = "0" if abs(moved) < 0.005 else f"{moved:+.2f}".replace("-", "−")
    return {"way": "gained" if moved > 0 else "lost", "strength": strength, "text": text}


# -- two variables -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Crossing:
    """Counts of two variables in classes, the same classes before and after."""

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    counts: dict[str, np.ndarray]

    @classmethod
    def of(cls, original: Microdata, released: Microdata, x: str, y: str) -> Crossing | None:
        """Count both files; cells of fewer than three records are left empty."""
        axes = [_classes(original, released, name) for name in (x, y)]
        if any(axis is None for axis in axes):
            return None
        (x_codes, x_labels), (y_codes, y_labels) = axes  # type: ignore[misc]
        counts = {}
        for series, a, b in zip((ORIGINAL, RELEASE), x_codes, y_codes, strict=True):
            table = np.zeros((len(x_labels), len(y_labels)), dtype=np.int64)
            known = (a >= 0) & (b >= 0)
            np.add.at(table, (a[known], b[known]), 1)
            counts[series] = np.where(table < SMALLEST_GROUP, 0, table)
        return cls((x, y), (tuple(x_labels), tuple(y_labels)), counts)


def _classes(
    original: Microdata, released: Microdata, name: str
) -> tuple[list[np.ndarray], Sequence[str]] | None:
    sides = original, released
    if all(side.schema[name].kind == Kind.NUMERIC for side in sides):
        values = [side.numeric([name])[:, 0] for side in sides]
        bins = _bins.of_numbers([v[np.isfinite(v)] for v in values])
        if bins is None:
            return None
        return [_binned(v, bins) for v in values], bins.labels
    return _categories(sides, name)


def _binned(values: np.ndarray, bins: _bins.Bins) -> np.ndarray:
    known = np.isfinite(values)
    codes = np.full(len(values), -1)
    inside = np.searchsorted(bins.edges, values[known], side="right") - 1
    codes[known] = np.clip(inside, 0, len(bins.labels) - 1)
    return codes


def _categories(
    sides: tuple[Microdata, Microdata], name: str
) -> tuple[list[np.ndarray], list[str]] | None:
    """Take the most frequent categories of the original; the others are not drawn."""
    import polars as pl

    texts = [side.local[name].cast(pl.String).fill_null(MISSING) for side in sides]
    counts = texts[0].alias("v").value_counts(name="n").sort(["n", "v"], descending=[True, False])
    shown = counts.filter(pl.col("n") >= SMALLEST_GROUP)["v"].to_list()[:_MOST_LABELS]
    if not shown:
        return None
    number = {label: i for i, label in enumerate(shown)}
    codes = [t.replace_strict(number, default=-1, return_dtype=pl.Int64).to_numpy() for t in texts]
    return codes, [short(label) for label in shown]


def bivariate(original: Any, release: Any, x: str, y: str) -> AnyChart:
    """Chart two variables against each other, the original beside the release.

    Parameters
    ----------
    original, release
        Microdata or any frame; `release` may also be a release.
    x, y
        Names of two variables that both have.
    """
    released = Microdata.of(getattr(release, "data", release))
    found = Crossing.of(Microdata.of(original), released, x, y)
    if found is None:
        from tacit.report._charts import _nothing

        return themed(_nothing())
    return themed(draw_crossing(found).properties(title=f"{short(x)} and {short(y)}"))


def draw_crossing(crossing: Crossing) -> AnyChart:
    """Draw counts as the strength of a colour, the original beside the release."""
    import altair as alt

    panels = [_panel(crossing, series, is_first=i == 0) for i, series in enumerate(crossing.counts)]
    return alt.hconcat(*panels, spacing=14)


def panel_strengths(crossing: Crossing) -> dict[str, np.ndarray]:
    """Return for each side how strongly its cells are coloured, from 0 (empty) to 1."""
    shares = {series: t / max(int(t.sum()), 1) for series, t in crossing.counts.items()}
    largest = max(float(share.max()) for share in shares.values()) or 1.0
    return {series: (share / largest) ** _CONTRAST for series, share in shares.items()}


def _panel(crossing: Crossing, series: str, *, is_first: bool) -> Any:
    import altair as alt

    strengths = panel_strengths(crossing)[series]
    x_labels, y_labels = crossing.labels
    rows = [
        {"x": x_labels[i], "y": y_labels[j], "strength": float(strengths[i, j])}
        for i, j in zip(*np.nonzero(strengths), strict=True)
    ]
    look: dict[str, Any] = {
        "labelLimit": 120,
        "ticks": False,
        "domain": False,
        "grid": False,
        "labelOverlap": True,
    }
    shown = alt.Axis(title=None, **look) if is_first else None
    return (
        alt.Chart(alt.InlineData(values=rows), title=alt.TitleParams(series, fontSize=11))
        .mark_rect(color=AFTER_COLOUR)
        .encode(
            x=alt.X("x:N", sort=None, scale=alt.Scale(domain=list(x_labels)),
                    axis=alt.Axis(title=None, labelAngle=-40, **look)),
            y=alt.Y("y:N", sort=None, scale=alt.Scale(domain=list(y_labels)[::-1]), axis=shown),
            opacity=alt.Opacity("strength:Q", legend=None,
                                scale=alt.Scale(domain=[0, 1], range=[0.08, 1])),
        )
        .properties(width=WIDTH // 2 - 20, height=190)
    )  # fmt: skip
