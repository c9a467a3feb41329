"""The R-U map: every candidate release by its risk and its utility.

Hovering over a point shows what was done; a click keeps the release marked and its plan in sight.
The same map serves microdata, tables and query policies: anything with a risk and a utility.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.core.atomic import new_file
from tacit.core.errors import ParameterError
from tacit.report import save_png

if TYPE_CHECKING:
    from tacit.tradeoff.frontier import Frontier, Point

_WIDTH, _HEIGHT = 520, 340
_LINE = 96
"""Characters of a plan on one line under the map."""
_FRONTIER, _OTHERS = "#0f6674", "#a3adb8"


def ru_map(
    front: Frontier,
    *,
    curves: Sequence[Point] = (),
    lowest: float | None = None,
    clickable: bool = True,
) -> Any:
    """Draw releases on a map of risk (across) and utility (up), the frontier as a line.

    Parameters
    ----------
    front
        The releases and their frontier.
    curves
        Further releases to compare with, joined by lines within their ``group``.
    lowest
        Utility below which releases are not shown.
    clickable
        Whether the plan of a release that is clicked is shown under the map.
    """
    import altair as alt

    if not front.tried:
        raise ParameterError("there is no release to draw")
    on_front = {id(p) for p in front.points}
    rows = [_row(p, id(p) in on_front) for p in front.tried]
    click = alt.selection_point(name="release", fields=["release"], on="click", empty=False)
    title = f"{front.risk_title} (lower is safer)"
    by_factors = alt.Scale(type="log", nice=True)
    linear = alt.Scale(zero=False, nice=True)
    risk = alt.X("risk:Q", title=title, scale=by_factors if front.risk_by_factors else linear)
    title = f"{front.utility_title} (higher is better)"
    use = alt.Y("utility:Q", title=title).scale(zero=False, nice=lowest is None)
    if lowest is not None:
        use = use.scale(domainMin=lowest)
    layers = [
        _line(rows, risk, use),
        *_intervals(rows, risk, use),
        _points(rows, risk, use, click),
    ]
    chart = alt.layer(*_curves(curves, risk, use), alt.layer(*layers))
    chart = chart.resolve_scale(color="independent").properties(width=_WIDTH, height=_HEIGHT)
    return _looks(alt.vconcat(chart, _chosen(rows, click)) if clickable else chart)


def save_map(chart: Any, path: str | Path) -> Path:
    """Write a map as an HTML page that needs no other file, or as a PNG picture."""
    path = Path(path)
    if path.suffix.lower() == ".png":
        return save_png(chart, path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(
            "a map is written as HTML or PNG", got=path.name, do="name it .html or .png"
        )
    page = chart.to_html(inline=True)  # the drawing library goes inside: nothing is fetched
    with new_file(path) as scratch:
        scratch.write_text(page, encoding="utf-8")
    return path


def _row(point: Point, on_front: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "release": point.label,
        "risk": point.risk,
        "utility": point.utility,
        "kind": "on the frontier" if on_front else "beaten by another",
        "group": point.group,
        "numbers": "; ".join(f"{name} {number:.4g}" for name, number in point.parts.items()),
        "conditions": _conditions(point),
        "repeats": point.replicates,
    }
    for axis, interval in (("risk", point.risk_interval), ("utility", point.utility_interval)):
        if interval is not None:
            row[f"{axis}_low"], row[f"{axis}_high"] = interval
    return row


def _conditions(point: Point) -> str:
    if not point.shortfalls:
        return "none asked"
    missed = [words for words, gap in point.shortfalls.items() if gap]
    return f"missed: {'; '.join(missed)}" if missed else "all met"


def _data(rows: Sequence[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.InlineData(values=list(rows))


def _points(rows: list[dict[str, Any]], risk: Any, use: Any, click: Any) -> Any:
    import altair as alt

    colours = alt.Scale(domain=["on the frontier", "beaten by another"], range=[_FRONTIER, _OTHERS])
    shown = ["release", "risk", "utility", "numbers", "conditions", "repeats"]
    return (
        alt.Chart(_data(rows))
        .mark_point(filled=True, opacity=0.85, strokeWidth=2, clip=True)
        .encode(
            risk,
            use,
            color=alt.Color("kind:N", scale=colours, title=None, legend=alt.Legend(orient="top")),
            size=alt.condition(click, alt.value(220), alt.value(60)),
            stroke=alt.condition(click, alt.value("#c2410c"), alt.value(None)),
            tooltip=[alt.Tooltip(f"{name}:{_type(name)}") for name in shown],
        )
        .add_params(click)
    )


def _type(name: str) -> str:
    return "Q" if name in ("risk", "utility", "repeats") else "N"


def _line(rows: list[dict[str, Any]], risk: Any, use: Any) -> Any:
    import altair as alt

    front = [row for row in rows if row["kind"] == "on the frontier"]
    line = alt.Chart(_data(front)).mark_line(
        interpolate="step-after", color=_FRONTIER, opacity=0.6, clip=True
    )
    return line.encode(risk, use, order="risk:Q")


def _intervals(rows: list[dict[str, Any]], risk: Any, use: Any) -> list[Any]:
    import altair as alt

    known = [r for r in rows if "risk_low" in r and r["kind"] == "on the frontier"]
    if not known:
        return []
    bar = alt.Chart(_data(known)).mark_rule(color=_FRONTIER, opacity=0.45, clip=True)
    across = bar.encode(alt.X("risk_low:Q", title=""), alt.X2("risk_high:Q"), use)
    up = bar.encode(risk, alt.Y("utility_low:Q", title=""), alt.Y2("utility_high:Q"))
    return [across, up]


def _curves(curves: Sequence[Point], risk: Any, use: Any) -> list[Any]:
    import altair as alt

    if not curves:
        return []
    rows = [_row(p, False) | {"place": i} for i, p in enumerate(curves)]
    colour = alt.Color("group:N", title="one method alone", legend=alt.Legend(orient="right"))
    base = alt.Chart(_data(rows)).encode(risk, use, color=colour, order="place:Q")
    tips = [alt.Tooltip("release:N"), alt.Tooltip("risk:Q"), alt.Tooltip("utility:Q")]
    dots = base.mark_point(size=16, clip=True).encode(
        color=alt.Color("group:N", legend=None), tooltip=tips
    )
    return [alt.layer(base.mark_line(opacity=0.8, clip=True), dots)]


def _chosen(rows: list[dict[str, Any]], click: Any) -> Any:
    """Draw the plan of the release that was clicked, line by line."""
    import altair as alt

    lines = [
        {"release": row["release"], "line": i, "text": text}
        for row in rows
        for i, text in enumerate(_wrapped(row))
    ]
    return (
        alt.Chart(_data(lines), title=alt.TitleParams("Click a release to keep it", anchor="start"))
        .transform_filter(click)
        .mark_text(align="left", x=0, color="currentColor")
        .encode(y=alt.Y("line:O", axis=None), text="text:N")
        .properties(width=_WIDTH, height=90)
    )


def _wrapped(row: dict[str, Any]) -> list[str]:
    import textwrap

    about = f"risk {row['risk']:.4g}, utility {row['utility']:.4g}; conditions: {row['conditions']}"
    return [about, *textwrap.wrap(row["release"], _LINE)[:5]]


def _looks(chart: Any) -> Any:
    shown = chart.configure_view(stroke=None).configure_axis(
        gridOpacity=0.3, labelColor="currentColor", titleColor="currentColor"
    )
    return shown.configure_legend(
        labelColor="currentColor", titleColor="currentColor", labelLimit=260
    ).configure_title(color="currentColor", fontSize=12)
