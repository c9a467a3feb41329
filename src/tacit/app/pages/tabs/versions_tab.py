"""Masked versions: scorecards side by side, the map of risk and utility, records, decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.api.projects import DatabaseTable
from tacit.app.pages.frame import copyable, hint, section
from tacit.app.pages.records_table import records_table
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.attack_view import attack_view
from tacit.app.pages.tabs.file_links import file_links
from tacit.app.pages.tabs.measure_words import explained, in_words
from tacit.app.pages.tabs.versions_map import versions_map
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.verdicts import is_safe, sentence
from tacit.core.plan import Plan

_KINDS = {"masked": "Masked data", "table": "Table", "log": "Query log"}
_WITH_HELP = (
    """<q-td :props="props"><span :title="props.row.help">{{ props.value }}</span></q-td>"""
)
_NOTHING = "–"
"""Stands where there is no measurement."""


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab; versions that are open stay so when it is drawn again."""
    opened: set[str] = set()

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        inside = about["capacity"] in ("owner", "custodian")
        found = visitor.parts.versions.of_project(visitor.actor, project)
        masked = [v for v in found if v["kind"] == "masked"]
        others = [v for v in found if v["kind"] != "masked"]
        drawn: dict[str, ui.expansion] = {}
        if not found:
            ui.label("No version yet. Generate one in the tab Plan, or let the wizard find some.")
        if masked:
            _verdicts(masked)
            _compared(masked)
            versions_map(masked, lambda version: _open(drawn, version))
        if found:
            section("Versions")
            hint("Open a version to download it, see its records, attack it or have it approved.")
        for version in [*masked, *others]:
            box = _Version(visitor, project, version, content.refresh).draw(inside)
            box.set_value(version["id"] in opened)
            box.on_value_change(lambda event, i=version["id"]: _note(opened, i, event.value))
            drawn[version["id"]] = box

    if visitor.parts.projects.show(visitor.actor, project)["capacity"] in ("owner", "custodian"):
        jobs_view.watch(visitor, project, content.refresh)
    content()


def _note(opened: set[str], version: str, is_open: bool) -> None:
    """Remember whether a version is open."""
    (opened.add if is_open else opened.discard)(version)


def _open(drawn: dict[str, ui.expansion], chosen: str) -> None:
    """Open one version, close the others, and bring it into view."""
    for version, box in drawn.items():
        box.set_value(version == chosen)
    place = f"getHtmlElement({drawn[chosen].id})"
    ui.run_javascript(f"{place}.scrollIntoView({{block: 'nearest'}})")


def _verdicts(versions: list[dict[str, Any]]) -> None:
    """Say of each version in one sentence whether it is safe enough."""
    section("May it leave?")
    for version in versions:
        measured = version["measurements"]
        with ui.row().classes("items-center no-wrap w-full"):
            safe = is_safe(measured)
            colour = "text-positive" if safe else "text-negative"
            ui.icon("check_circle" if safe else "error").classes(f"text-xl {colour}")
            words = ui.label(f"“{version['name']}”: {sentence(measured)}")
            words.classes("min-w-0").props('role="status"')
    hint("The thresholds are those of this house; the administrator sets them (target).")


def _compared(versions: list[dict[str, Any]]) -> None:
    """Draw the scorecards side by side."""
    section("Side by side")
    rows: dict[str, dict[str, Any]] = {}
    for version in versions:
        card = version["measurements"]
        for aspect in ("risk", "utility"):
            for taken in card[aspect]:
                row = rows.setdefault(
                    taken["measure"],
                    {"aspect": aspect, "better": taken["better"],
                     "measure": in_words(taken["measure"], taken["title"]),
                     "help": explained(taken["measure"]),
                     "original": card["before"].get(taken["measure"], {}).get("text", "")},
                )  # fmt: skip
                row[version["id"]] = taken["text"]
    for row in rows.values():
        row |= {v["id"]: _NOTHING for v in versions if v["id"] not in row}
        row["original"] = row["original"] or _NOTHING
    columns = [
        {"name": name, "label": name, "field": name, "align": "left"}
        for name in ("aspect", "measure", "better", "original")
    ] + [{"name": v["id"], "label": v["name"], "field": v["id"], "align": "left"} for v in versions]
    with ui.element("div").classes("w-full overflow-x-auto"):
        table = ui.table(columns=columns, rows=list(rows.values())).props("dense flat")
        table.add_slot("body-cell-measure", _WITH_HELP)
    hint("Point at a measure to read what it does. “Better” says which way is better. "
         f"{_NOTHING} is not measured: a measure needs columns of its kind, and utility compares a "
         "version with the original.")  # fmt: skip


def _measured(taken: list[dict[str, Any]]) -> None:
    """Draw the measurements of a protected query log."""
    names = {"title": "measure", "text": "value", "better": "better"}
    columns = [
        {"name": n, "label": label, "field": n, "align": "left"} for n, label in names.items()
    ]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=taken).props("dense flat")


def _data_set(several: int) -> ui.select | None:
    """Let the person choose among the data sets of a synthetic version."""
    if several < 2:
        return None
    offered = {n: f"data set {n} of {several}" for n in range(1, several + 1)}
    return ui.select(offered, value=1, label="Masked records of").classes("w-64")


class _Version:
    """One version, and what may be done with it."""

    def __init__(
        self, visitor: Visitor, project: str, version: dict[str, Any], redraw: Callable[[], Any]
    ) -> None:
        self.visitor, self.project = visitor, project
        self.version, self.redraw = version, redraw

    def draw(self, inside: bool) -> ui.expansion:
        version = self.version
        state = {"made": "not decided yet"}.get(version["state"], version["state"])
        box = ui.expansion(f"{_KINDS[version['kind']]} “{version['name']}”: {state}")
        with box.classes("w-full border rounded"):
            if version["remark"]:
                ui.label(f"Remark: {version['remark']}")
            self._standing()
            if inside:
                file_links(self.visitor, version)
                self._database()
                if version["kind"] == "masked":
                    self._beside()
            if version["kind"] == "masked":
                attack_view(self.visitor, self.project, version, inside)
            if version["kind"] == "log":
                _measured(version["measurements"]["log"])
            if version["state"] == "made":
                self._decision()
            if inside:
                self._end()
        return box

    def _standing(self) -> None:
        """Say what a person should know before letting the version out."""
        measured = self.version["measurements"]
        if measured.get("unchanged"):
            columns = ", ".join(measured["unchanged"])
            ui.label(f"Released exactly as they are in the original: {columns}.")
        if measured.get("exposed"):
            columns = ", ".join(measured["exposed"])
            ui.label(f"Confidential among them: {columns}.").classes("font-bold")
        if measured.get("broken_up"):
            hint(
                f"Whole numbers in the original, with decimals now: "
                f"{', '.join(measured['broken_up'])}. The step Rounding with base 1 mends it."
            )
        if self.version["kind"] == "masked" and "attack" not in measured:
            hint("It has not been attacked yet. Meeting a target says little about what the target "
                 "does not name: attack it below before it leaves.")  # fmt: skip

    def _end(self) -> None:
        with ui.expansion("Plan file").classes("w-full"):
            copyable(self.version["plan"], "toml")
            if self.version["kind"] == "masked":
                ui.button("Change this plan", on_click=trying(self._change)).props("outline")
                hint("Puts its steps into the tab Plan, in place of those that are there.")
        if self.version["state"] != "approved":
            ui.button("Delete this version", on_click=self._delete).props("flat color=negative")

    def _change(self) -> None:
        """Make the plan of the version that of the project, to be changed there."""
        projects, actor = self.visitor.parts.projects, self.visitor.actor
        steps = [step.as_step() for step in Plan.from_toml(self.version["plan"])]
        about = projects.show(actor, self.project)
        projects.set_plan(actor, self.project, steps, about["edition"])
        ui.navigate.to(f"/project/{self.project}?tab=Plan")

    def _decision(self) -> None:
        name = self.version["name"]
        with ui.row().classes("items-end"):
            remark = ui.input("Remark").classes("w-80 max-w-full")

            def decide(approve: bool) -> None:
                self.visitor.parts.versions.decide(
                    self.visitor.actor, self.version["id"], approve=approve,
                    remark=remark.value or "",
                )  # fmt: skip
                self.redraw()

            yes = ui.button("Approve", on_click=trying(lambda: decide(True)))
            yes.props["color"], yes.props["aria-label"] = "positive", f"Approve {name}"
            no = ui.button("Reject", on_click=trying(lambda: decide(False)))
            no.props["color"], no.props["aria-label"] = "negative", f"Reject {name}"
        why_not = self.version["why_not_decide"]
        if why_not:
            for box in (remark, yes, no):
                box.set_enabled(False)
            hint(f"You made it, and {why_not}: invite a reviewer under People.")

    def _database(self) -> None:
        """Let the person save approved data to a database that the administrator allows."""
        from tacit.app.pages.tabs.database_form import DatabaseForm

        settings = self.visitor.parts.settings
        wanted = (self.version["kind"], self.version["state"]) == ("masked", "approved")
        if not settings.databases or not wanted:
            return
        with ui.expansion("Save the data as a new table of a database").classes("w-full"):
            form = DatabaseForm(settings)
            table = ui.input("Name of the new table").classes("w-64 max-w-full")

            @trying
            def save() -> None:
                parts, actor = self.visitor.parts, self.visitor.actor
                body = DatabaseTable(url=form.address, table=table.value or "")
                asked = parts.versions.to_save(actor, self.version["id"], body.url, body.table)
                parts.jobs.submit(actor, asked.pop("project"), "save", asked)
                ui.notify("The data are being saved.")

            ui.button("Save to the database", on_click=save)

    def _beside(self) -> None:
        """Draw masked and original records beside each other."""
        visitor, version = self.visitor, self.version["id"]
        several = visitor.parts.versions.n_data_sets(visitor.actor, version)
        with ui.expansion("Records beside the original").classes("w-full"):
            chosen = _data_set(several)
            area = ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 w-full")
        with area:
            redraw = records_table(
                lambda first, count: visitor.parts.versions.page(
                    visitor.actor, version, first, count, data_set=chosen.value if chosen else 1
                ),
                title="Masked",
            )
            if chosen is not None:
                chosen.on_value_change(redraw)
            records_table(
                lambda first, count: visitor.parts.projects.page(
                    visitor.actor, self.project, first, count
                ),
                title="Original",
            )

    def _delete(self) -> None:
        """Ask once more, and delete."""
        with ui.dialog() as dialog, ui.card():
            ui.label(f"Delete “{self.version['name']}” and its files?")

            @trying
            def delete() -> None:
                dialog.close()
                self.visitor.parts.versions.delete(self.visitor.actor, self.version["id"])
                self.redraw()

            with ui.row():
                ui.button("Delete", on_click=delete).props("color=negative")
                ui.button("Keep it", on_click=dialog.close).props("flat")
        dialog.open()
