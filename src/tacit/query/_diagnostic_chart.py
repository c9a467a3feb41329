"""Pictures of synthetic diagnostics."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.query.diagnostics import Diagnostic

_POINT, _LINE = "#0f6674", "#b3541e"
_SIZE = {"width": 420, "height": 260}


def diagnostic_chart(plot: Diagnostic) -> Any:
    """Draw points with their smooth mean, boxes, or averages with their band."""
    if plot.boxes:
        return _boxes(plot)
    return _bins(plot) if plot.bins else _scatter(plot)


def _scatter(plot: Diagnostic) -> Any:
    import altair as alt

    points = [{"x": x, "residual": t} for x, t in zip(plot.x, plot.residual, strict=True)]
    scale = alt.Scale(domain=[-4, 4])
    dots = (
        alt.Chart({"values": points})
        .mark_circle(size=9, opacity=0.4, color=_POINT)
        .encode(
            x=alt.X("x:Q", title=plot.predictor, scale=alt.Scale(zero=False)),
            y=alt.Y("residual:Q", title="synthetic residual", scale=scale),
        )
    )
    return (dots + _mean(plot)).properties(**_SIZE)


def _mean(plot: Diagnostic) -> Any:
    import altair as alt

    line = [{"x": x, "mean": y} for x, y in plot.curve]
    return alt.Chart({"values": line}).mark_line(color=_LINE).encode(x="x:Q", y="mean:Q")


def _boxes(plot: Diagnostic) -> Any:
    import altair as alt

    base = alt.Chart({"values": [asdict(box) for box in plot.boxes]}).encode(
        x=alt.X("category:N", title=plot.predictor)
    )
    y = alt.Y("low:Q", title="synthetic residual", scale=alt.Scale(domain=[-4, 4]))
    reach = base.mark_rule(color=_POINT).encode(y=y, y2="high:Q")
    box = base.mark_bar(size=18, color=_POINT).encode(y="lower_quartile:Q", y2="upper_quartile:Q")
    middle = base.mark_tick(color="white", size=18, thickness=2).encode(y="median:Q")
    return (reach + box + middle).properties(**_SIZE)


def _bins(plot: Diagnostic) -> Any:
    import altair as alt

    kind = "N" if isinstance(plot.bins[0].at, str) else "Q"
    rows = [{**asdict(b), "low": -b.band} for b in plot.bins]
    base = alt.Chart({"values": rows}).encode(x=alt.X(f"at:{kind}", title=plot.predictor))
    y = alt.Y("low:Q", title="average synthetic residual")
    band = base.mark_rule(color="#b8c4cc", strokeWidth=5).encode(y=y, y2="band:Q")
    dots = base.mark_point(filled=True, color=_POINT).encode(y="residual:Q")
    return (band + dots).properties(**_SIZE)
