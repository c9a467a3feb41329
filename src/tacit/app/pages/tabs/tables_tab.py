"""Protected tables: dimensions, rule, method; the cells coloured by what became of them."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.frame import section
from tacit.app.pages.method_form import method_form
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.visitor import Visitor, trying
from tacit.core.method import build, find, methods

_COUNT_RULE, _TOTAL_RULE = "freq(3)", "dominance(2,75)|p(10)|freq(3)"
_COLOURS = {
    "safe": "#ffffff",
    "primary": "#f6c6c2",
    "secondary": "#fde7b8",
    "forced": "#e3d3f4",
    "requested": "#cfe3f6",
    "changed": "#d7efd6",
}


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        if not about["data"]:
            ui.label("The project has no data yet; upload a file in the tab Data.")
            return
        _form(visitor, project, about)
        found = visitor.parts.versions.of_project(visitor.actor, project)
        for version in [v for v in found if v["kind"] == "table"]:
            _table(visitor, project, version)

    jobs_view.watch(visitor, project, content.refresh)
    content()


def _form(visitor: Visitor, project: str, about: dict[str, Any]) -> None:
    section("A new table")
    usable = [c for c in about["columns"] if "identifier" not in c["roles"]]
    names = [c["name"] for c in usable]
    numbers = [c["name"] for c in usable if c["kind"] == "numeric"]
    with ui.card().classes("w-full max-w-3xl"):
        name = ui.input("Name", value="table 1")
        by = ui.select(names, label="Spanned by", multiple=True, value=[]).classes("w-full")
        by.props("use-chips")
        value = ui.select(
            {"": "count records", **{n: f"add up {n}" for n in numbers}}, value="", label="Cells"
        ).classes("w-full")
        rule = ui.input("Sensitive are", value=_COUNT_RULE).classes("w-full")
        value.on_value_change(lambda: rule.set_value(_TOTAL_RULE if value.value else _COUNT_RULE))
        ui.label("Rules are joined by | (any) and & (all).").classes("text-xs text-gray-700 -mt-3")
        known = {m.key: m.title for m in methods("protection")}
        method = ui.select(known, value="suppress-modular", label="Protection").classes("w-full")
        area = ui.column().classes("w-full")
        reading: dict[str, Any] = {}

        def draw() -> None:
            area.clear()
            with area, ui.expansion("Parameters of the protection").classes("w-full"):
                reading["step"] = method_form(find(method.value, "protection"), names)

        method.on_value_change(draw)
        draw()

        @trying
        def protect() -> None:
            from tacit.tables import TablePlan

            step = build(reading["step"](), "protection").as_step()
            plan = {
                "by": [list(by.value)], "value": value.value or None, "rule": rule.value or None,
                "method": step, "missing_value": "drop",
            }  # fmt: skip
            TablePlan(**plan)
            free = visitor.parts.versions.free_name(project, "table", name.value)
            asked = {"name": free, "plan": plan}
            visitor.parts.jobs.submit(visitor.actor, project, "table", asked)
            ui.notify("The table is being protected and attacked.")

        ui.button("Protect the table", on_click=protect).props("icon=shield")


def _table(visitor: Visitor, project: str, version: dict[str, Any]) -> None:
    """Draw the cells of a table as the house sees them."""
    import polars as pl

    folder = visitor.parts.versions.folder(project, version["id"])
    cells = pl.read_parquet(folder / "dossier" / "cells.parquet").head(1000)
    with ui.expansion(f"Table “{version['name']}”", value=True).classes("w-full border rounded"):
        address = f"/api/v1/versions/{version['id']}/files"
        with ui.row():
            ui.link("Excel to publish", f"{address}/public/table.xlsx").props("download")
            ui.link("Report", f"{address}/dossier/report.html").props("download")
        check = version["measurements"]["check"]
        ui.label(f"Check: {'passed' if check['passed'] else 'failed'}. {check['how']}")
        columns = [{"name": c, "label": c, "field": c, "align": "left"} for c in cells.columns]
        rows = cells.with_columns(pl.all().cast(pl.String)).fill_null("").to_dicts()
        with ui.element("div").classes("w-full overflow-x-auto"):
            drawn = ui.table(columns=columns, rows=rows, pagination=25).props("dense flat")
        _coloured(drawn)


def _coloured(drawn: ui.table) -> None:
    """Colour each row by its status."""
    colours = ", ".join(f"'{status}': '{colour}'" for status, colour in _COLOURS.items())
    drawn.add_slot(
        "body-cell-status",
        f"""<q-td :props="props" :style="{{background: ({{{colours}}})[props.value] || '#fff'}}">
        {{{{ props.value }}}}</q-td>""",
    )
