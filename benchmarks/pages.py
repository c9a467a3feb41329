"""The pages of docs/benchmarks: tables and pictures of what the harness has measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from capabilities import BY_KEY
from measuring import growth_exponent, markdown

_INTRO = """# Benchmarks

tacit beside its peers and beside the limit: the least work that any program for the task must do,
such as one scan of memory, one group-by or one linear programme. `make bench` measures again and
writes this page.

Seconds are CPU seconds of all threads, medians of one to three turns in which our side, the peers
and the limit alternate; the file is in memory and compiled code is warm. The machine has two
virtual cores, shared with other work, so figures below a tenth of a second are rough. A peer that
pip installs ran live, in its own environment and in the same run; the figure of a peer marked
*quoted* is from an earlier measurement on the same kind of machine, as its note says. The speed of
exact methods says nothing about files that do not fit into memory.

Losses are shown like gains: a number below 1 in the column *faster* means that the peer is faster.
"""


def _seconds(cell: dict[str, Any] | None) -> str:
    if not cell:
        return ""
    if "why" in cell:
        return cell["why"]
    s = cell["seconds"]
    return f"{s:.3f}" if s < 0.1 else f"{s:.2f}" if s < 10 else f"{s:.0f}"


def _ratio(ours: dict[str, Any], theirs: float | None) -> str:
    if theirs is None or "seconds" not in ours:
        return ""
    ratio = theirs / max(ours["seconds"], 1e-4)
    return f"{ratio:,.1f}" if ratio < 10 else f"{ratio:,.0f}"


def _rivals(key: str, n: int, row: dict[str, Any]) -> list[tuple[str, str, float | None]]:
    """Name, figure and seconds of each peer at this size."""
    found = [
        (name, _seconds(cell), cell.get("seconds"))
        for name, cell in row.items()
        if name not in ("ours", "limit")
    ]
    for name, quoted in BY_KEY[key].quoted.items():
        if n in quoted:
            found.append((f"{name}, *quoted*", f"{quoted[n]:g}", quoted[n]))
    return found


def growth(result: dict[str, Any]) -> str:
    """Return the growth exponent of our seconds over all sizes."""
    points = [(int(n), row["ours"]["seconds"]) for n, row in result["sizes"].items()
              if "seconds" in row["ours"]]  # fmt: skip
    if len(points) < 2:
        return ""
    return f"n^{growth_exponent(*zip(*points, strict=True)):.2f}"


def comparison(results: dict[str, Any]) -> str:
    """Return the table of peers."""
    rows = []
    for key, result in results.items():
        for n, row in result["sizes"].items():
            for name, figure, seconds in _rivals(key, int(n), row):
                version = result["versions"].get(name, "")
                peak = row.get(name, {}).get("peak")
                rows.append([
                    result["title"], f"{int(n):,}", _seconds(row["ours"]),
                    f"{name} {version}".strip(), figure, _ratio(row["ours"], seconds),
                    f"{row['ours'].get('peak') or 0:.0f}",
                    "" if peak is None else f"{peak:.0f}", _quality(row, name),
                ])  # fmt: skip
    header = ["task", "records", "tacit, CPU s", "peer", "peer, CPU s", "faster", "tacit, peak MB",
              "peer, peak MB", "quality"]  # fmt: skip
    return markdown(header, rows)


def _quality(row: dict[str, Any], peer: str) -> str:
    ours, theirs = row["ours"].get("answer") or "", row.get(peer, {}).get("answer")
    if isinstance(theirs, float):
        theirs = f"{100 * theirs:.1f} %"
    says = ours and theirs is not None and not isinstance(theirs, int)  # a number of records
    return f"{ours}; peer {theirs}" if says else ours


def limits(results: dict[str, Any]) -> str:
    """Return the table of limits."""
    rows = []
    for result in results.values():
        for place, (n, row) in enumerate(result["sizes"].items()):
            ours, limit = row["ours"], row["limit"]
            times = ""
            if "seconds" in ours and "seconds" in limit:
                times = f"{ours['seconds'] / max(limit['seconds'], 1e-4):,.1f}"
            peak = f"{ours['peak']:.0f}" if ours.get("peak") else ""
            rows.append([
                result["title"] if place == 0 else "", f"{int(n):,}", _seconds(ours), peak,
                result["limit"] if place == 0 else "", _seconds(limit), times,
                growth(result) if place == 0 else "", ours.get("answer") or "",
            ])  # fmt: skip
    header = ["task", "records or cells", "tacit, CPU s", "peak MB", "limit", "limit, CPU s",
              "times the limit", "growth", "result"]  # fmt: skip
    return markdown(header, rows)


def _picture(chart: Any) -> str:
    import altair as alt
    import vl_convert

    from tacit.report._charts import themed

    drawn = themed(alt.hconcat(chart)).to_dict()  # alone it would be fitted to the width of a page
    drawn["config"]["background"] = "white"  # an image does not know whether the page is dark
    return vl_convert.vegalite_to_svg(drawn)


def growth_picture(results: dict[str, Any]) -> str:
    """Draw seconds by size, one small panel per task, with the limit and the peers."""
    import altair as alt

    points = []
    for key, result in results.items():
        for n, row in result["sizes"].items():
            sides = {"tacit": row["ours"].get("seconds"), "limit": row["limit"].get("seconds")}
            sides |= {"peer": next((s for _, _, s in _rivals(key, int(n), row) if s), None)}
            points += [
                {"task": result["title"], "records": int(n), "seconds": max(s, 1e-4), "side": side}
                for side, s in sides.items()
                if s is not None
            ]
    chart = alt.Chart(alt.Data(values=points), width=150, height=110).mark_line(point=True).encode(
        x=alt.X("records:Q", scale=alt.Scale(type="log"), title=None,
                axis=alt.Axis(format="~s", tickCount=3)),
        y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title=None,
                axis=alt.Axis(format="~g", tickCount=4)),
        color=alt.Color("side:N", sort=["tacit", "peer", "limit"], title=None),
    )  # fmt: skip
    faceted = chart.facet(alt.Facet("task:N", title=None, header=alt.Header(labelLimit=170)),
                          columns=4).resolve_scale(x="independent", y="independent")  # fmt: skip
    return _picture(faceted)


def ratio_picture(results: dict[str, Any]) -> str:
    """Draw how many times faster than each peer, at the largest size it managed."""
    import altair as alt

    bars = []
    for key, result in results.items():
        best: dict[str, tuple[int, float]] = {}
        for n, row in result["sizes"].items():
            for name, _, seconds in _rivals(key, int(n), row):
                if seconds and "seconds" in row["ours"]:
                    best[name.replace(", *quoted*", "")] = (
                        int(n), seconds / max(row["ours"]["seconds"], 1e-4)
                    )  # fmt: skip
        bars += [
            {"task": f"{result['title']}: {name}, n = {n:,}", "faster": ratio}
            for name, (n, ratio) in best.items()
        ]
    chart = alt.Chart(alt.Data(values=bars), width=420).mark_point(filled=True, size=60).encode(
        x=alt.X("faster:Q", scale=alt.Scale(type="log"), title="times faster than the peer"),
        y=alt.Y("task:N", sort="-x", title=None, axis=alt.Axis(labelLimit=460)),
    )  # fmt: skip
    one = alt.Chart(alt.Data(values=[{"x": 1}])).mark_rule(strokeDash=[4, 4]).encode(x="x:Q")
    return _picture(one + chart)


def _extra(folder: Path) -> str:
    """Return the sections that are written by hand, such as those of other machines."""
    notes = folder / "notes.inc"
    return notes.read_text(encoding="utf-8") if notes.exists() else ""


def write(folder: Path, results: dict[str, Any]) -> None:
    """Write the index page and its pictures."""
    ordered = {key: results[key] for key in BY_KEY if key in results}
    dates = sorted({result["date"] for result in ordered.values()})
    loads = [result["load"] for result in ordered.values()]
    said = f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, load of the machine " \
           f"{min(loads):g} to {max(loads):g} on two cores."  # fmt: skip
    (folder / "growth.svg").write_text(growth_picture(ordered), encoding="utf-8")
    (folder / "ratios.svg").write_text(ratio_picture(ordered), encoding="utf-8")
    parts = [
        _INTRO, said, "## Beside the peers",
        "![Times faster than each peer, on a logarithmic scale](ratios.svg)", comparison(ordered),
        "## Beside the limit",
        "Growth is the exponent b of seconds = a n^b over all sizes of the row.", limits(ordered),
        "![Seconds by number of records for each task: tacit, peer and limit](growth.svg)",
        _extra(folder),
    ]  # fmt: skip
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    (folder / "index.md").write_text(text + "\n", encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
