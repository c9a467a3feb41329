"""Draw the pictures of the tutorial on synthetic data: ``python docs/synthetic_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

import tacit
from tacit import inference, mask

_IMAGES = Path(__file__).parent / "images"
_NORMAL_95 = 1.96
_COLOURS = alt.Scale(domain=["original", "synthetic"], range=["#444444", "#1f77b4"])


def marginals(both: pl.DataFrame) -> alt.HConcatChart:
    """Shares of education, and of income in groups, side by side."""
    income = (pl.col("income") / 10_000).floor().clip(upper_bound=9).cast(pl.Int64) * 10
    shown = both.with_columns(income.alias("income, thousands"))
    order = {"education": list(tacit.datasets.census(10).schema["education"].categories or ())}
    charts = []
    for column in ("education", "income, thousands"):
        counts = shown.drop_nulls(column).group_by("file", column).len()
        counts = counts.with_columns(share=pl.col("len") / pl.col("len").sum().over("file"))
        charts.append(
            alt.Chart(counts, width=260, height=200).mark_bar().encode(
                alt.X(f"{column}:O", sort=order.get(column, "ascending")),
                alt.XOffset("file:N"), alt.Y("share:Q", axis=alt.Axis(format="%")),
                alt.Color("file:N", scale=_COLOURS),
            )
        )  # fmt: skip
    return alt.hconcat(*charts)


def pairs(both: pl.DataFrame) -> alt.FacetChart:
    """Age and income of 300 people of each file."""
    some = pl.concat(part.sample(300, seed=1) for part in both.partition_by("file"))
    points = alt.Chart(some, width=260, height=200).mark_circle(size=9, opacity=0.6)
    coded = points.encode(
        alt.X("age:Q"), alt.Y("income:Q", scale=alt.Scale(domain=[0, 120_000], clamp=True)),
        alt.Color("file:N", scale=_COLOURS, legend=None),
    )  # fmt: skip
    return coded.facet("file:N")


def models(release: tacit.Release, model: inference.Regression) -> alt.LayerChart:
    """Coefficients with intervals, in standard errors of the original."""
    table = intervals(release, model)
    base = alt.Chart(table, width=420, height=130).encode(
        alt.Y("name:N", title=None), alt.YOffset("file:N"), alt.Color("file:N", scale=_COLOURS)
    )
    line = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title="standard errors from the original's estimate"), alt.X2("high:Q")
    )
    return line + base.mark_point(filled=True, size=45).encode(alt.X("estimate:Q"))


def intervals(release: tacit.Release, model: inference.Regression) -> pl.DataFrame:
    """Estimates and 95 % intervals of both files, scaled."""
    found = inference.analyse(release, model)
    before = model.like(release.original)(release.original)
    errors = before.variances**0.5
    rows = []
    for i, name in enumerate(found.names):
        rows.append(("original", name, 0.0, -_NORMAL_95, _NORMAL_95))
        scaled = [
            (x[i] - before.values[i]) / errors[i] for x in (found.estimates, found.low, found.high)
        ]
        rows.append(("synthetic", name, *map(float, scaled)))
    return pl.DataFrame(rows, schema=["file", "name", "estimate", "low", "high"], orient="row")


def main() -> None:
    """Draw all three."""
    data = tacit.datasets.census(2000)
    release = tacit.Plan([mask.Synthesise(m=5)]).apply(data, seed=1)
    columns = ["education", "age", "income"]
    both = pl.concat(
        frame.select(columns).with_columns(file=pl.lit(name))
        for name, frame in (("original", data.frame), ("synthetic", release.frame))
    )
    model = inference.Regression("income", ["age", "hours", "sex"])
    for name, chart in {
        "marginals": marginals(both), "pairs": pairs(both), "models": models(release, model)
    }.items():  # fmt: skip
        chart.save(_IMAGES / f"synthetic-{name}.png", scale_factor=1.3)


if __name__ == "__main__":
    main()
