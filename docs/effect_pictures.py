"""A picture of what each masking method does, drawn from its own example.

Left: each record's value before and after, which shows how far single values move. Right: the
variable as a whole, before and after. Data: `tacit.datasets.census`, which is made up.
"""

import altair as alt
import polars as pl
import vl_convert

import tacit
from tacit.core.schema import Kind
from tacit.report._charts import draw, themed
from tacit.report._tally import compare

_RECORDS, _POINTS, _SEED = 600, 300, 1


def picture(method) -> str:
    """Return an SVG text for a masking method."""
    data = tacit.datasets.census(_RECORDS)
    release = tacit.Plan([method(**method.example)]).apply(data, seed=_SEED)
    column = shown_column(data, release)
    whole = [draw(tally) for tally in compare(data, release.data, column)]
    single = moves(data, release, column)
    parts = ([] if single is None else [single]) + whole
    chart = alt.hconcat(*parts).resolve_scale(color="independent", yOffset="independent")
    return vl_convert.vegalite_to_svg(themed(chart).to_dict())


def shown_column(data, release) -> str:
    """Return the variable that changed on most records, or the first key."""
    paired = _paired(data, release)
    changes = {
        name: int(paired[f"{name}:before"].ne_missing(paired[f"{name}:after"]).sum())
        for name in release.data.columns
        if name in data.columns
    }
    most = max(changes, key=lambda name: changes[name], default="")
    return most if changes.get(most) else release.data.schema.keys[0]


def _paired(data, release) -> pl.DataFrame:
    rows = release.rows
    real = rows >= 0
    names = [c for c in release.data.columns if c in data.columns]
    old = data.local[rows[real]].select(pl.col(names).cast(pl.String).name.suffix(":before"))
    new = release.data.local.filter(pl.Series(real)).select(
        pl.col(names).cast(pl.String).name.suffix(":after")
    )
    return pl.concat([old, new], how="horizontal")


def moves(data, release, column):
    """Chart the value of each record before and after; None where that would say nothing."""
    rows = release.rows
    real = (rows >= 0).nonzero()[0][:_POINTS]
    if not len(real):
        return None
    old, new = data.local[column][rows[real]], release.data.local[column][real]
    numeric = {data.schema[column].kind, release.data.schema[column].kind} == {Kind.NUMERIC}
    if numeric:
        return _scatter(column, old, new)
    return _counts(column, old.cast(pl.String), new.cast(pl.String))


def _scatter(column, old, new):
    rows = pl.DataFrame({"before": old, "after": new}).drop_nulls().to_dicts()
    points = alt.Chart(alt.Data(values=rows)).mark_circle(size=18, opacity=0.5)
    return points.encode(
        x=alt.X("before:Q", title=f"{column}, before"),
        y=alt.Y("after:Q", title=f"{column}, after"),
    ).properties(width=240, height=240)


def _counts(column, old, new):
    table = pl.DataFrame(
        {"before": old.fill_null("(missing)"), "after": new.fill_null("(missing)")}
    )
    if table["before"].n_unique() > 25 or table["after"].n_unique() > 25:
        return None
    rows = table.group_by("before", "after").len("records").sort("before", "after").to_dicts()
    cells = alt.Chart(alt.Data(values=rows)).mark_circle()
    return cells.encode(
        x=alt.X("before:N", title=f"{column}, before"),
        y=alt.Y("after:N", title=f"{column}, after"),
        size=alt.Size("records:Q", legend=None),
    ).properties(width=240, height=240)


def alternative_text(method) -> str:
    """Say in words what the picture shows."""
    return (
        f"What {method.title} does to one variable: single values before and after, and the whole."
    )
