"""Protected tables: dimensions, rule, method; the cells coloured by what became of them."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.dragging import chips, takes_several
from tacit.app.pages.frame import hint, section
from tacit.app.pages.method_form import method_form
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.table_view import table_view
from tacit.app.pages.tabs.version_names import free_name
from tacit.app.pages.visitor import Visitor, trying
from tacit.core.errors import ParameterError
from tacit.core.method import build, find, methods

_COUNT_RULE, _TOTAL_RULE = "freq(3)", "dominance(2,75)|p(10)|freq(3)"


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        if not about["data"]:
            ui.label("The project has no data yet; upload a file in the tab Data.")
            return
        found = visitor.parts.versions.of_project(visitor.actor, project)
        _form(visitor, project, about, found)
        for version in [v for v in found if v["kind"] == "table"]:
            table_view(visitor, project, version)

    jobs_view.watch(visitor, project, content.refresh)
    content()


def _form(
    visitor: Visitor, project: str, about: dict[str, Any], found: list[dict[str, Any]]
) -> None:
    section("A new table")
    usable = [c for c in about["columns"] if "identifier" not in c["roles"]]
    names = [c["name"] for c in usable]
    numbers = [c["name"] for c in usable if c["kind"] == "numeric"]
    with ui.card().classes("w-full max-w-3xl"):
        name = ui.input("Name of the table", value=free_name(found, "table"))
        hint("Drag columns into the field, or choose them there.")
        held = chips(names)
        by = ui.select(names, label="Spanned by", multiple=True, value=[]).classes("w-full")
        by.props("use-chips")
        takes_several(by, held)
        value = ui.select(
            {"": "count records", **{n: f"add up {n}" for n in numbers}}, value="", label="Cells"
        ).classes("w-full")
        rule = ui.input("Sensitive are", value=_COUNT_RULE).classes("w-full")
        value.on_value_change(lambda: rule.set_value(_TOTAL_RULE if value.value else _COUNT_RULE))
        hint(
            "freq(3): fewer than 3 records. dominance(2,75): the 2 largest make up over 75 %. "
            "p(10): a respondent could be estimated within 10 %. Join rules by | (any) and & (all)."
        )
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

            if not by.value:
                raise ParameterError("no column spans the table", do="choose one or more")
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
