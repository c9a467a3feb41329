"""Masked versions: scorecards side by side, the map of risk and utility, records, decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import copyable, section
from tacit.app.pages.records_table import records_table
from tacit.app.pages.visitor import Visitor, trying


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        inside = about["capacity"] in ("owner", "custodian")
        found = visitor.parts.versions.of_project(visitor.actor, project)
        masked = [v for v in found if v["kind"] == "masked"]
        tables = [v for v in found if v["kind"] == "table"]
        if not found:
            ui.label("No version yet.")
        if masked:
            _compared(masked)
        for version in [*masked, *tables]:
            _version(visitor, project, version, inside, content.refresh)

    content()


def _compared(versions: list[dict[str, Any]]) -> None:
    """Draw the scorecards side by side and the map."""
    section("Side by side")
    rows: dict[str, dict[str, Any]] = {}
    for version in versions:
        card = version["measurements"]
        for aspect in ("risk", "utility"):
            for taken in card[aspect]:
                row = rows.setdefault(
                    taken["measure"],
                    {"aspect": aspect, "measure": taken["title"], "better": taken["better"],
                     "original": card["before"].get(taken["measure"], {}).get("text", "")},
                )  # fmt: skip
                row[version["id"]] = taken["text"]
    columns = [
        {"name": name, "label": name, "field": name, "align": "left"}
        for name in ("aspect", "measure", "better", "original")
    ] + [{"name": v["id"], "label": v["name"], "field": v["id"], "align": "left"} for v in versions]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=list(rows.values())).props("dense flat")
    _map(versions)


def _map(versions: list[dict[str, Any]]) -> None:
    """Draw the versions on a map of two measures that the person chooses, and pick the best."""
    risks = _measures(versions, "risk")
    utilities = _measures(versions, "utility")
    if not risks or not utilities:
        return
    section("Risk and utility")
    with ui.row():
        risk = ui.select(risks, value=next(iter(risks)), label="Risk").classes("w-64")
        utility = ui.select(utilities, value=next(iter(utilities)), label="Utility").classes("w-64")
        limit = ui.number("At most this risk").classes("w-40")
    area = ui.column()

    def draw() -> None:
        points = [
            {"name": v["name"],
             "risk": _value(v, "risk", risk.value),
             "utility": _value(v, "utility", utility.value)}
            for v in versions
        ]  # fmt: skip
        area.clear()
        with area:
            _chart([p for p in points if None not in p.values()], risks[risk.value],
                   utilities[utility.value])  # fmt: skip
            best = _best(versions, points, utility.value, limit.value)
            if best:
                ui.label(f"Best within the limit: {best}").classes("font-bold")
            elif limit.value is not None:
                ui.label("No version is within the limit.").classes("font-bold")

    for box in (risk, utility, limit):
        box.on_value_change(draw)
    draw()


def _measures(versions: list[dict[str, Any]], aspect: str) -> dict[str, str]:
    return {t["measure"]: t["title"] for v in versions for t in v["measurements"][aspect]}


def _taken(version: dict[str, Any], aspect: str, key: str) -> dict[str, Any]:
    cards = version["measurements"][aspect]
    return next((taken for taken in cards if taken["measure"] == key), {})


def _value(version: dict[str, Any], aspect: str, key: str) -> Any:
    return _taken(version, aspect, key).get("value")


def _best(
    versions: list[dict[str, Any]], points: list[dict[str, Any]], utility: str, limit: float | None
) -> str | None:
    if limit is None:
        return None
    within = [p for p in points if None not in p.values() and p["risk"] <= limit]
    if not within:
        return None
    better = _taken(versions[0], "utility", utility).get("better", "higher")
    sign = 1 if better == "higher" else -1
    return str(max(within, key=lambda p: sign * p["utility"])["name"])


def _chart(points: list[dict[str, Any]], risk: str, utility: str) -> None:
    data = [{"name": p["name"], "value": [p["risk"], p["utility"]]} for p in points]
    ui.echart(
        {
            "tooltip": {"formatter": "{b}: {c}"},
            "xAxis": {"name": risk, "nameLocation": "middle", "nameGap": 28, "scale": True},
            "yAxis": {"name": utility, "scale": True},
            "series": [
                {
                    "type": "scatter", "symbolSize": 16, "data": data,
                    "label": {"show": True, "position": "right", "formatter": "{b}"},
                }
            ],
        }
    ).classes("w-full max-w-3xl h-80")  # fmt: skip


def _version(
    visitor: Visitor,
    project: str,
    version: dict[str, Any],
    inside: bool,
    redraw: Callable[[], Any],
) -> None:
    state = {"made": "not decided yet"}.get(version["state"], version["state"])
    kind = "Table" if version["kind"] == "table" else "Masked data"
    with ui.expansion(f"{kind} “{version['name']}”: {state}").classes("w-full border rounded"):
        if version["remark"]:
            ui.label(f"Remark: {version['remark']}")
        if version["state"] == "made":
            _decision(visitor, version, redraw)
        if inside:
            _files(visitor, version)
            if version["kind"] == "masked":
                _beside(visitor, project, version)
            with ui.expansion("Plan file").classes("w-full"):
                copyable(version["plan"], "toml")


def _decision(visitor: Visitor, version: dict[str, Any], redraw: Callable[[], Any]) -> None:
    with ui.row().classes("items-end"):
        remark = ui.input("Remark").classes("w-80")

        def decide(approve: bool) -> None:
            visitor.parts.versions.decide(
                visitor.actor, version["id"], approve=approve, remark=remark.value or ""
            )
            redraw()

        ui.button("Approve", on_click=trying(lambda: decide(True))).props("color=positive")
        ui.button("Reject", on_click=trying(lambda: decide(False))).props("color=negative")


def _files(visitor: Visitor, version: dict[str, Any]) -> None:
    files = visitor.parts.versions.files(visitor.actor, version["id"])
    address = f"/api/v1/versions/{version['id']}/files"
    words = {"public": "For users", "dossier": "Stays in the house"}
    for part, names in files.items():
        with ui.row().classes("items-center"):
            ui.label(f"{words[part]}:").classes("font-bold")
            for name in names:
                ui.link(name, f"{address}/{part}/{name}").props("download")


def _beside(visitor: Visitor, project: str, version: dict[str, Any]) -> None:
    """Draw masked and original records one above the other."""
    parts = visitor.parts
    with ui.expansion("Records beside the original").classes("w-full"):
        records_table(
            lambda first, count: parts.versions.page(visitor.actor, version["id"], first, count),
            title="Masked",
        )
        records_table(
            lambda first, count: parts.projects.page(visitor.actor, project, first, count),
            title="Original",
        )
