"""Pictures of noise tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.tables.perturb.noise_table import NoiseTable

_MOST_ROWS = 25
_DARK, _LIGHT = "#0f6674", "#ffffff"


def noise_chart(noise: NoiseTable) -> Any:
    """Draw the probabilities of a noise table: counts down, new counts across."""
    import altair as alt
    import polars as pl

    table = noise.frame.filter((pl.col("p") > 0) & (pl.col("i") <= noise.rows[:_MOST_ROWS][-1]))
    cells = table.group_by("i", "j", maintain_order=True).agg(pl.col("p").sum())
    axis = alt.Axis(labelAngle=0, format="~g")
    base = alt.Chart({"values": cells.to_dicts()}).encode(
        x=alt.X("j:O", title="published", axis=axis),
        y=alt.Y("i:O", title="true", axis=axis),
    )
    shade = alt.Scale(range=[_LIGHT, _DARK], domain=[0, 1], interpolate="rgb")
    squares = base.mark_rect().encode(color=alt.Color("p:Q", title="probability", scale=shade))
    ink = alt.condition("datum.p > 0.5", alt.value(_LIGHT), alt.value("#1c2630"))
    words = base.mark_text(fontSize=9).encode(text=alt.Text("p:Q", format=".3f"), color=ink)
    return (squares + words).properties(width=alt.Step(34), height=alt.Step(18))


def write_png(chart: Any, path: Path, scale: float = 2.0) -> Path:
    """Write a chart as PNG, whole or not at all, without asking anything from outside."""
    import vl_convert

    from tacit.core.atomic import new_file

    specification = json.loads(json.dumps(chart.to_dict(validate=False)))
    specification.setdefault("config", {})["background"] = _LIGHT
    picture = vl_convert.vegalite_to_png(specification, scale=scale, allowed_base_urls=[])
    with new_file(path) as scratch:
        scratch.write_bytes(picture)
    return path
