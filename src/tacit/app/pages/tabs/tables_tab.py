"""Protected tables: dimensions, rule, method; the cells coloured by what became of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.app.classification import classification
from tacit.app.linked_tables import columns_of, linked_tables
from tacit.app.pages.dragging import Chips, takes_several
from tacit.app.pages.frame import as_script, hint, section
from tacit.app.pages.method_form import method_form
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.table_records import TableRecords
from tacit.app.pages.tabs.table_view import table_view
from tacit.app.pages.tabs.version_names import free_name
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.scripts import table_script
from tacit.app.table_checks import check_plan
from tacit.core.method import build, methods

if TYPE_CHECKING:
    from tacit.tables.protection import Protection

_METHOD = "suppress-modular"
_COUNT_RULE, _TOTAL_RULE = "freq(3)", "dominance(2,75)|p(10)|freq(3)"


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab; what is written in the form stays when a job ends."""
    about = visitor.parts.projects.show(visitor.actor, project)
    if not about["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return
    form = _Form(visitor, project, about)

    @ui.refreshable
    def tables() -> None:
        found = visitor.parts.versions.of_project(visitor.actor, project)
        form.offer_name(found)
        for version in [v for v in found if v["kind"] == "table"]:
            table_view(visitor, project, version)

    jobs_view.watch(visitor, project, tables.refresh)
    form.draw()
    tables()


class _Form:
    """Where a table is put together."""

    def __init__(self, visitor: Visitor, project: str, about: dict[str, Any]) -> None:
        self.visitor, self.project, self.about = visitor, project, about
        usable = [c for c in about["columns"] if "identifier" not in c["roles"]]
        self.names = [c["name"] for c in usable]
        whole = visitor.parts.projects.whole_numbers(visitor.actor, project)
        self.records = TableRecords(about["columns"], whole)
        self.protections = _protections()
        self.written: dict[str, str] = {}
        self.groups: dict[str, ui.textarea] = {}
        """Lines of hierarchies by column; they stay when a column is taken out and put back."""

    def offer_name(self, found: list[dict[str, Any]]) -> None:
        """Propose a name that no version has, unless somebody wrote one."""
        if not self.name.value or self.name.value in {v["name"] for v in found}:
            self.name.set_value(free_name(found, "table"))

    def draw(self) -> None:
        section("A new table")
        with ui.card().classes("w-full max-w-3xl"):
            self.name = ui.input("Name of the table")
            self._dimensions()
            self._cells()
            self.records.draw()
            self._rule()
            self._protection()
            ui.button("Protect the table", on_click=trying(self._protect)).props("icon=shield")
            as_script(self._script)

    def _dimensions(self) -> None:
        hint("Which columns make the rows and columns of the table? Drag them into the field, "
             "press them, or choose them there; the last one goes across.")  # fmt: skip
        held = Chips(self.names)
        self.by = ui.select(self.names, label="Spanned by", multiple=True, value=[])
        self.by.classes("w-full").props("use-chips")
        takes_several(self.by, held)
        with ui.expansion("Further tables, linked to this one").classes("w-full"):
            hint("A line for each table, its columns with commas between them, such as: region, "
                 "age. All are protected together, so that no table betrays what another "
                 "withholds.")  # fmt: skip
            self.further = ui.textarea("Columns of further tables").classes("w-full")
            self.further.props("autogrow")
        with ui.expansion("Hierarchies: codes that add up to others").classes("w-full"):
            hint("A line for each group, such as: North = Oslo, Bergen. Codes that no line names "
                 "are below the total. Without a line the hierarchy of the data is used, if they "
                 "have one.")  # fmt: skip
            hint("Choose the columns that span the table first.").bind_visibility_from(
                self.by, "value", backward=lambda chosen: not chosen
            )
            area = ui.column().classes("w-full")
        self.by.on_value_change(lambda: self._hierarchies(area))
        self.further.on_value_change(lambda: self._hierarchies(area))

    def _spanning(self) -> list[str]:
        """Return the columns of all tables, as far as they are written."""
        further = columns_of(self.further.value or "", self.names)
        return list(dict.fromkeys([*self.by.value, *further]))

    def _hierarchies(self, area: ui.column) -> None:
        """Offer a field for every column of the tables; one that is being written in stays."""
        spanning = self._spanning()
        for column in [c for c in self.groups if c not in spanning]:
            self.groups.pop(column).delete()
        with area:
            for column in [c for c in spanning if c not in self.groups]:
                lines = ui.textarea(f"Groups of {column}", value=self.written.get(column, ""))
                lines.classes("w-full").props("autogrow")
                lines.on_value_change(lambda e, c=column: self.written.update({c: e.value or ""}))
                self.groups[column] = lines

    def _cells(self) -> None:
        offered = {"": "count records"} | {n: f"add up {n}" for n in self.records.numbers}
        self.value = ui.select(offered, value="", label="Cells").classes("w-full")

    def _rule(self) -> None:
        self.rule = ui.input("Sensitive are", value=_COUNT_RULE).classes("w-full")
        self.value.on_value_change(
            lambda: self.rule.set_value(_TOTAL_RULE if self.value.value else _COUNT_RULE)
        )
        hint(
            "freq(3): fewer than 3 respondents. dominance(2,75): the 2 largest make up over 75 %. "
            "p(10): a respondent could be estimated within 10 %. Join rules by | (any) and & (all)."
        )

    def _protection(self) -> None:
        self.method = ui.select(self._offered(), value=_METHOD, label="Protection")
        self.method.classes("w-full")
        area = ui.column().classes("w-full")

        def draw() -> None:
            area.clear()
            chosen = self.protections[self.method.value]
            columns = self.records.keys if chosen.keyed else self.names
            with area, ui.expansion("Parameters of the protection").classes("w-full"):
                self.step: Callable[[], dict[str, Any]] = method_form(chosen, columns)

        def offer() -> None:
            known, value = self._offered(), self.method.value
            self.method.set_options(known, value=value if value in known else _METHOD)
            if self.protections[self.method.value].keyed:
                draw()  # among its parameters is one of the keys

        self.method.on_value_change(draw)
        self.records.on_keys(offer)
        draw()

    def _offered(self) -> dict[str, str]:
        """Return the titles of the protections; without record keys, of those that need none."""
        keyed = bool(self.records.keys)
        return {key: m.title for key, m in self.protections.items() if keyed or not m.keyed}

    def _protect(self) -> None:
        parts = self.visitor.parts
        free = parts.versions.free_name(self.project, "table", self.name.value)
        asked = {"name": free, "plan": self._plan()}
        parts.jobs.submit(self.visitor.actor, self.project, "table", asked)
        ui.notify("The table is being protected and attacked.")

    def _script(self) -> list[tuple[str, str]]:
        from tacit.tables import TablePlan

        plan = self._plan()
        toml = TablePlan(**plan).to_toml()
        return [(table_script(self.about, plan), "python"), (toml, "toml")]

    def _plan(self) -> dict[str, Any]:
        """Return the plan as plain data, once it is known to make sense."""
        from tacit.tables import TablePlan

        plan = {
            "by": linked_tables(self.by.value, self.further.value or "", self.names),
            "value": self.value.value or None,
            "rule": self.rule.value or None,
            "method": build(self.step(), "protection").as_step(),
            "hierarchies": self._classifications(),
            **self.records.chosen(),
        }
        check_plan(TablePlan(**plan))
        return plan

    def _classifications(self) -> dict[str, Any]:
        made = {}
        for column in self._spanning():
            text = self.written.get(column, "")
            if text.strip():
                codes = self.visitor.parts.projects.codes(self.visitor.actor, self.project, column)
                made[column] = classification(column, text, codes)
        return {name: found.as_dict() for name, found in made.items() if found is not None}


def _protections() -> dict[str, type[Protection]]:
    from tacit.tables.protection import Protection

    return {m.key: m for m in methods("protection") if issubclass(m, Protection)}
