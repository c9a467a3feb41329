"""The plan of a project: methods in order, each with its form; and generate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import copyable, hint, next_step, section, way_to
from tacit.app.pages.method_form import method_form
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.version_names import free_name
from tacit.app.pages.visitor import Visitor, explained, trying
from tacit.app.scripts import plan_script
from tacit.core.method import build, find, methods
from tacit.core.plan import Plan


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        if not about["data"]:
            ui.label("The project has no data yet; upload a file in the tab Data.")
            return
        _Editor(visitor, about, content.refresh).draw()

    jobs_view.watch(visitor, project, content.refresh)
    content()


class _Editor:
    """The plan as it stands, and what may be done with it."""

    def __init__(self, visitor: Visitor, about: dict[str, Any], redraw: Callable[[], Any]) -> None:
        self.visitor, self.about, self.redraw = visitor, about, redraw
        self.steps: list[dict[str, Any]] = list(about["plan"])
        self.columns = [c["name"] for c in about["columns"] if "identifier" not in c["roles"]]

    def draw(self) -> None:
        section("Steps, applied in this order")
        if not self.steps:
            ui.label("No step yet. Add a method below.")
            way_to("Not sure which? Let the wizard find a plan", self.about["id"], "Wizard")
        hint("Columns that identify directly are removed by themselves; they need no step.")
        for number, step in enumerate(self.steps):
            self._step(number, step)
        with ui.row():
            ui.button("Add a method", on_click=self._add).props("icon=add outline")
        if self.steps:
            self._generate()
            self._script()

    def _save(self, steps: list[dict[str, Any]]) -> None:
        self.visitor.parts.projects.set_plan(
            self.visitor.actor, self.about["id"], steps, self.about["edition"]
        )
        self.redraw()

    def _step(self, number: int, step: dict[str, Any]) -> None:
        with ui.card().classes("w-full"), ui.row().classes("w-full items-center"):
            words = f"{number + 1}. {build(step, 'mask').describe()}"
            ui.label(words).classes("grow basis-64 min-w-0 break-words")
            with ui.row().classes("no-wrap"):
                self._step_buttons(number)

    def _step_buttons(self, number: int) -> None:
        for icon, words, action in (
            ("arrow_upward", "Move up", lambda: self._move(number, -1)),
            ("arrow_downward", "Move down", lambda: self._move(number, 1)),
            ("edit", "Edit", lambda: self._edit(number)),
            ("delete", "Delete", lambda: self._delete(number)),
        ):
            button = ui.button(icon=icon, on_click=action).props("flat dense round")
            button.props(f'aria-label="{words} step {number + 1}"').tooltip(words)

    def _move(self, number: int, by: int) -> None:
        with explained():
            steps, to = list(self.steps), number + by
            if 0 <= to < len(steps):
                steps[number], steps[to] = steps[to], steps[number]
                self._save(steps)

    def _delete(self, number: int) -> None:
        with explained():
            self._save([s for n, s in enumerate(self.steps) if n != number])

    def _edit(self, number: int) -> None:
        step = self.steps[number]
        self._dialog(step["method"], step, lambda new: [
            new if n == number else s for n, s in enumerate(self.steps)
        ])  # fmt: skip

    def _add(self) -> None:
        with ui.dialog() as dialog, ui.card().classes("w-full max-w-2xl"):
            section("Which method?")
            known = {m.key: f"{m.title} — {m.summary().replace('`', '')}" for m in methods("mask")}
            choice = ui.select(known, label="Method", with_input=True).classes("w-full")
            hint("Open the list, or type a word such as: noise, recode, swap, synthetic.")

            def go_on() -> None:
                if choice.value:
                    dialog.close()
                    self._dialog(choice.value, {}, lambda new: [*self.steps, new])

            with ui.row():
                ui.button("Go on", on_click=go_on)
                ui.button("Cancel", on_click=dialog.close).props("flat")
        dialog.open()

    def _dialog(
        self,
        key: str,
        values: dict[str, Any],
        changed: Callable[[dict[str, Any]], list[dict[str, Any]]],
    ) -> None:
        method = find(key, "mask")
        with ui.dialog() as dialog, ui.card().classes("w-full max-w-2xl"):
            section(method.title)
            read = method_form(method, self.columns, values)

            @trying
            def save() -> None:
                step = build(read(), "mask").as_step()
                dialog.close()
                self._save(changed(step))

            with ui.row():
                ui.button("Save the step", on_click=save)
                ui.button("Cancel", on_click=dialog.close).props("flat")
        dialog.open()

    def _generate(self) -> None:
        section("Generate")
        with ui.row().classes("items-end"):
            found = self.visitor.parts.versions.of_project(self.visitor.actor, self.about["id"])
            name = ui.input("Name of the masked version", value=free_name(found, "masked"))

            @trying
            def generate() -> None:
                parts = self.visitor.parts
                asked = {
                    "name": parts.versions.free_name(self.about["id"], "masked", name.value),
                    "plan": self.steps,
                }
                parts.jobs.submit(self.visitor.actor, self.about["id"], "generate", asked)
                ui.notify("The version is being made; it will be under Versions.")

            ui.button("Generate", on_click=generate).props("icon=play_arrow")
        if any(version["kind"] == "masked" for version in found):
            next_step("look at the versions", self.about["id"], "Versions")

    def _script(self) -> None:
        plan = Plan(self.steps)
        with ui.expansion("The same in Python, and as a plan file").classes("w-full"):
            copyable(plan_script(self.about, self.steps), "python")
            copyable(plan.to_toml(), "toml")
