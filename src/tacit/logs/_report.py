"""The report of a protected query log, one HTML file without outside references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.core.measurement import Measurement
    from tacit.logs.release import LogRelease

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#1c2630}table{border-collapse:collapse;margin:1rem 0}th,td{text-align:left;"
    "padding:.25rem 1rem .25rem 0;border-bottom:1px solid #d5dbe1;vertical-align:top}"
    ".warning{color:#9a3412}svg{max-width:100%;height:auto}"
)


def render(release: LogRelease, measurements: Sequence[Measurement]) -> str:
    """Return the report as HTML."""
    from tacit.logs.saving import counts

    by_key = {m.key: m for m in measurements}
    remain = by_key["semantic-remain"]
    parts = [
        "<h1>A query log, protected</h1>",
        f"<p>At least {release.method.k} users always have exactly the same lines.</p>",
        "<h2>Measurements</h2>",
        _table(
            ["measure", "value", "what it says"],
            [(m.title, m.text, " ".join([m.explanation, *m.warnings])) for m in measurements],
        ),
        "<h2>The attack</h2>",
        _table(["", ""], _plain(by_key["known-queries"].details)),
        "<h2>What is left of interests, level by level</h2>",
        remain_chart_svg(remain.details["by_level"], remain.details["bound"]),
        "<h2>Sizes</h2>",
        _table(["", ""], _plain(counts(release))),
        "<h2>Removed in cleaning</h2>",
        _table(
            ["reason", "distinct queries", "lines"],
            [(why, f"{q:,}", f"{n:,}") for why, (q, n) in release.cleaned.removed.items()],
        ),
        "<h2>How</h2>",
        _table(["", ""], [*_plain(release.method.model_dump()), ("taxonomy", release.taxonomy)]),
        "<h2>Time</h2>",
        _table(["part", "seconds", "share"], _times(release)),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A query log, protected'
        f"</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def remain_chart_svg(by_level: Sequence[float], bound: float) -> str:
    """Draw the SRP of each level against the bound 1/k."""
    import altair as alt
    import vl_convert

    rows = [{"level": n, "share": v} for n, v in enumerate(by_level, 1) if v == v]
    y = alt.Y("share:Q", title="remains", axis=alt.Axis(format="%"), scale={"domain": [0, 1]})
    bars = alt.Chart(_data(rows)).mark_bar(color="#2563a8").encode(x="level:O", y=y)
    limit = alt.Chart(_data([{"bound": bound}])).mark_rule(
        color="#c2410c", strokeDash=[5, 4], size=2
    )
    chart = (bars + limit.encode(y=alt.Y("bound:Q", title="remains"))).properties(
        width=360, height=200
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict(), allowed_base_urls=[]))


def _data(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _plain(items: Any) -> list[tuple[str, str]]:
    return [(str(name).replace("_", " "), _said(value)) for name, value in items.items()]


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _times(release: LogRelease) -> list[tuple[str, str, str]]:
    total = sum(release.seconds.values()) or 1.0
    return [(n, f"{s:.2f}", f"{100 * s / total:.0f} %") for n, s in release.seconds.items()]


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
