"""Query logs of search engines: users with similar interests get one common log."""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import as_script, hint, next_step, section
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.version_names import free_name
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.scripts import log_script
from tacit.app.tasks.log_task import DEMONSTRATION, taxonomies
from tacit.core.errors import ParameterError

_QUERY, _USER = re.compile(r"quer|search", re.IGNORECASE), re.compile(r"user|anon", re.IGNORECASE)


def is_log(about: dict[str, Any]) -> bool:
    """Whether the data of a project look like a query log."""
    return any(_QUERY.search(column["name"]) for column in about.get("columns") or ())


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab; what is written in the form stays when a job ends."""
    about = visitor.parts.projects.show(visitor.actor, project)
    if not about["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return

    @ui.refreshable
    def onwards() -> None:
        found = visitor.parts.versions.of_project(visitor.actor, project)
        if any(version["kind"] == "log" for version in found):
            next_step("look at the protected log", project, "Versions")

    jobs_view.watch(visitor, project, onwards.refresh)
    _form(visitor, about)
    onwards()


def _form(visitor: Visitor, about: dict[str, Any]) -> None:
    project, columns = about["id"], [c["name"] for c in about["columns"]]
    section("Protect a query log")
    hint("Queries that point at a person are removed. Then users with similar interests get one "
         "common log, so that at least k users look alike.")  # fmt: skip
    found = visitor.parts.versions.of_project(visitor.actor, project)
    name = ui.input("Name of the protected log", value=free_name(found, "log"))
    with ui.row().classes("items-end"):
        user = ui.select(columns, label="Users", value=_first(columns, _USER)).classes("w-48")
        query = ui.select(columns, label="Queries", value=_first(columns, _QUERY)).classes("w-48")
        k = ui.number("Users who look alike", value=3, min=2, step=1).classes("w-44")
        levels = ui.number("Levels of categories", value=5, min=1, step=1).classes("w-44")
    offered = taxonomies(visitor.parts.settings)
    taxonomy = ui.select(offered, value=offered[-1], label="Taxonomy").classes("w-80 max-w-full")
    if offered == [DEMONSTRATION]:
        hint("The demonstration has 600 terms and is for practice. The administrator puts others, "
             "as CSV files, into the folder “taxonomies” of the app.")  # fmt: skip

    def filled() -> dict[str, Any]:
        if not user.value or not query.value or user.value == query.value:
            raise ParameterError("users and queries are two columns", do="choose both")
        return {
            "columns": {"user": user.value, "query": query.value}, "taxonomy": taxonomy.value,
            "k": int(k.value or 3), "levels": int(levels.value or 5),
        }  # fmt: skip

    @trying
    def protect() -> None:
        free = visitor.parts.versions.free_name(project, "log", name.value)
        asked = {"name": free, **filled()}
        visitor.parts.jobs.submit(visitor.actor, project, "log", asked)
        ui.notify("The log is being protected; it will be under Versions.")

    ui.button("Protect the log", on_click=protect).props("icon=shield")
    as_script(lambda: [(log_script(about, filled()), "python")])


def _first(columns: list[str], wanted: re.Pattern[str]) -> str | None:
    return next((name for name in columns if wanted.search(name)), None)
