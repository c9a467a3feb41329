"""Let the wizard find releases that meet a target."""

from __future__ import annotations

import re

from nicegui import ui

from tacit.app.pages.frame import hint, next_step, section
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.visitor import Visitor, trying


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    if not visitor.parts.projects.show(visitor.actor, project)["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return
    section("What must a release meet?")
    ui.label(
        "Say it in words, parts joined by semicolons. The wizard proposes plans, searches among "
        "them, and keeps up to three versions: the safest, a balanced one and the most useful."
    ).classes("text-sm")
    target = ui.input("Target", value="k >= 5; at most 5 % linkable").classes("w-full max-w-2xl")
    hint(
        "Such as: k >= 5 (what an intruder may know of somebody is true of four others too); "
        "at most 5 % linkable; keep the regression of income on age."
    )
    with ui.row().classes("items-end"):
        name = ui.input("Name of the versions", value="wizard")
        seconds = ui.number("Seconds to search", value=45, min=1, max=3600).classes("w-40")

    @trying
    def search() -> None:
        from tacit.tradeoff import Target

        Target.of(target.value)
        asked = {"name": name.value, "target": target.value, "seconds": seconds.value or 45}
        visitor.parts.jobs.submit(visitor.actor, project, "wizard", asked)
        ui.notify("The search has begun; you may leave this page.")

    ui.button("Search", on_click=search).props("icon=auto_fix_high")
    words = ui.column().classes("w-full")

    def explain() -> None:
        jobs = visitor.parts.jobs.of_project(visitor.actor, project)
        last = next((j for j in jobs if j["kind"] == "wizard" and j["state"] == "done"), None)
        words.clear()
        with words:
            if last is not None:
                section("What the wizard did")
                ui.markdown(_below(last["result"]["words"]))
                next_step("compare the versions it kept", project, "Versions")

    jobs_view.watch(visitor, project, explain)
    explain()


def _below(words: str) -> str:
    """Put headings below that of the page, and take names of columns as they are."""
    return re.sub(r"(?m)^(#+) ", r"##\1 ", re.sub(r"([_<`\[])", r"\\\1", words))
