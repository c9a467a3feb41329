"""Each released variable before and after: facts, chart and the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.release import Release
from tacit.core.schema import Kind, Role, Variable
from tacit.report._bins import number
from tacit.report._charts import percent
from tacit.report._pictures import tally_picture
from tacit.report._tally import SMALLEST_GROUP, Tally, compare, legible, short

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup

FEW = 12
"""Up to this many variables are shown one below the other, in the order of the file."""
MOST_CHARTS = 60
"""Variables beyond this many are listed without a chart, to keep the report small."""
NOTHING = "–"
_HIDDEN = {
    Role.IDENTIFIER: "The values identify units and are not shown.",
    Role.HOUSEHOLD: "The values only say which records belong together and are not shown.",
}


@dataclass(frozen=True)
class Fact:
    """One line of a variable's table."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Figure:
    """A chart and the numbers it shows."""

    svg: Markup
    tally: Tally
    caption: str = ""
    note: str = ""


@dataclass(frozen=True)
class VariableCard:
    """What the report says about one variable."""

    name: str
    roles: tuple[str, ...]
    kind: str
    change: str
    has_changed: bool
    facts: tuple[Fact, ...]
    figures: tuple[Figure, ...]
    note: str


def variable_cards(release: Release, suspects: Collection[str] = ()) -> list[VariableCard]:
    """Describe the released variables: changed ones first where there are many, uncharted last.

    Parameters
    ----------
    release
        The release.
    suspects
        Columns that look like identifiers; their values are not shown.
    """
    shares = {name: changed_share(release, name) for name in release.data.columns}
    names = list(shares)
    if len(names) > FEW:
        names.sort(key=lambda name: shares[name] == 0)
    cards = [
        _card(release, name, shares[name], is_hidden=name in suspects, with_chart=i < MOST_CHARTS)
        for i, name in enumerate(names)
    ]
    return sorted(cards, key=lambda card: not card.figures)


def changed_share(release: Release, name: str) -> float | None:
    """Return the share of released records whose value is not the original one.

    None for a variable that the original does not have.
    """
    import polars as pl

    if name not in release.original.schema:
        return None
    rows = release.rows
    real = rows >= 0
    after = release.data.local[name].filter(pl.Series(real))
    before = release.original.local[name].gather(rows[real])
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        before, after = before.cast(pl.Float64), after.cast(pl.Float64)
    elif before.dtype != after.dtype:
        before, after = before.cast(pl.String), after.cast(pl.String)
    n_changed = int(before.ne_missing(after).sum()) + int((~real).sum())
    return n_changed / max(len(rows), 1)


def _card(
    release: Release, name: str, share: float | None, *, is_hidden: bool, with_chart: bool
) -> VariableCard:
    variable = release.data.schema[name]
    before = release.original if share is not None else None
    why_hidden = _why_hidden(variable, is_hidden)
    figures: tuple[Figure, ...] = ()
    note = why_hidden
    if with_chart and not why_hidden:
        figures, note = _figures(before, release.data, name)
    return VariableCard(
        name=legible(name),
        roles=tuple(sorted(variable.roles)) or ("no role",),
        kind=_kind(before, variable),
        change=_change(share),
        has_changed=share != 0,
        facts=_facts(before, release.data, name, with_values=not why_hidden),
        figures=figures,
        note=note,
    )


def _why_hidden(variable: Variable, is_suspect: bool) -> str:
    for role, reason in _HIDDEN.items():
        if role in variable.roles:
            return reason
    if is_suspect:
        return "This looks like an identifier; the values are not shown."
    return "Free text; the values are not shown." if variable.kind == Kind.TEXT else ""


def _kind(before: Microdata | None, variable: Variable) -> str:
    if before is None or before.schema[variable.name].kind == variable.kind:
        return str(variable.kind)
    return f"{before.schema[variable.name].kind}, released as {variable.kind}"


def _change(share: float | None) -> str:
    if share is None:
        return "new variable"
    return "unchanged" if share == 0 else f"changed in {percent(share)} of records"


# -- charts ------------------------------------------------------------------------------------


def _figures(
    before: Microdata | None, after: Microdata, name: str
) -> tuple[tuple[Figure, ...], str]:
    tallies = compare(before, after, name)
    if not tallies:
        return (), _why_empty(before, after, name)
    return tuple(_figure(t, legible(name), len(tallies)) for t in tallies), ""


def _why_empty(before: Microdata | None, after: Microdata, name: str) -> str:
    known = [d.local[name].drop_nulls().len() for d in (before, after) if d is not None]
    if not any(known):
        return "Every record is missing a value."
    if after.schema[name].kind == Kind.NUMERIC:
        return "The values cannot be put into classes."
    return (
        f"Every value occurs in fewer than {SMALLEST_GROUP} records; single values are not shown."
    )


def _figure(tally: Tally, name: str, n_figures: int) -> Figure:
    series = next(iter(tally.counts))
    caption = series if n_figures > 1 else ""
    title = f"{name}, {' and '.join(tally.counts).lower()}"
    svg = tally_picture(tally, title=title, description=in_words(tally))
    return Figure(svg, tally, caption, f"{tally.note}." if tally.note else "")


def in_words(tally: Tally) -> str:
    """Say what a chart shows to those who cannot see it."""
    said = []
    for series in tally.counts:
        shares = tally.shares(series)
        top = np.argsort(-shares, kind="stable")[:3]
        most = ", ".join(f"{tally.labels[i]} ({percent(float(shares[i]))})" for i in top)
        said.append(f"{series}: most often {most}.")
    return " ".join(said)


# -- facts -------------------------------------------------------------------------------------


def _facts(
    before: Microdata | None, after: Microdata, name: str, *, with_values: bool
) -> tuple[Fact, ...]:
    series = [None if d is None else d.local[name] for d in (before, after)]
    facts = [
        _fact("Missing", series, _missing),
        _fact("Different values", series, lambda s: f"{s.drop_nulls().n_unique():,}"),
    ]
    if with_values and after.schema[name].kind == Kind.NUMERIC:
        facts += [_fact("Mean", series, _mean), _fact("Standard deviation", series, _deviation)]
    elif with_values:
        facts.append(_fact("Most frequent", series, _mode))
    return tuple(facts)


def _fact(name: str, series: Sequence[pl.Series | None], text: Callable[[pl.Series], str]) -> Fact:
    before, after = (NOTHING if s is None else text(s) for s in series)
    return Fact(name, before, after)


def _missing(series: pl.Series) -> str:
    n = series.null_count()
    return f"{n:,} ({percent(n / len(series))})" if n else "0"


def _mean(series: pl.Series) -> str:
    return _statistic(series, np.mean)


def _deviation(series: pl.Series) -> str:
    return _statistic(series, lambda values: np.std(values, ddof=1) if np.ptp(values) else 0.0)


def _statistic(series: pl.Series, of: Callable[[np.ndarray], Any]) -> str:
    """Print a statistic of the finite values, unless there are so few that it gives them away."""
    import polars as pl

    values = series.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    values = values[np.isfinite(values)]
    if len(values) < SMALLEST_GROUP:
        return NOTHING
    with np.errstate(all="ignore"):
        result = float(of(values))
    return number(float(f"{result:.5g}")) if np.isfinite(result) else NOTHING


def _mode(series: pl.Series) -> str:
    import polars as pl

    text = series.dt.to_string() if series.dtype == pl.Duration else series.cast(pl.String)
    counts = text.drop_nulls().alias("label").value_counts(name="n")
    top = counts.sort(["n", "label"], descending=[True, False]).head(1)
    if top.is_empty() or top["n"][0] < SMALLEST_GROUP:
        return NOTHING
    return f"{short(top['label'][0])} ({percent(top['n'][0] / len(series))})"
