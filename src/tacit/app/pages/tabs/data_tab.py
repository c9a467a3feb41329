"""The data of a project: upload, what the columns mean, the records."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.frame import as_script, hint, next_step, section, way_to
from tacit.app.pages.records_table import records_table
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.log_tab import is_log
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.permissions import Action
from tacit.app.scripts import reading_script
from tacit.core.errors import ParameterError
from tacit.core.schema import Kind, Role, Schema

_ROLES = {
    "": "not decided",
    "identifier": "identifies directly (removed)",
    "key": "an intruder may know it",
    "confidential": "nobody should learn it",
    "non-confidential": "harmless",
    "weight": "sampling weight",
    "household": "household",
    "stratum": "stratum",
}
_WHY = """(info) => {
    let words = "";
    try { words = JSON.parse(info.xhr.responseText).error.message; } catch (error) {}
    emit(words);
}"""
"""Takes from the answer of the server why a file was refused."""


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        _upload(visitor, project, bool(about["data"]))
        if about["data"]:
            _Columns(visitor, project, about).draw()
            section("Records")
            read = lambda first, count: visitor.parts.projects.page(  # noqa: E731
                visitor.actor, project, first, count
            )
            records_table(read)

    jobs_view.watch(visitor, project, content.refresh)
    content()


def _upload(visitor: Visitor, project: str, has_data: bool) -> None:
    """Let the browser send a file straight to the REST interface, of any size."""
    what = "file or table" if visitor.parts.settings.databases else "file"
    title = f"Replace the data by another {what}" if has_data else f"Choose a {what}"
    with ui.expansion(title, value=not has_data).classes("w-full"):
        ui.label(
            "CSV, Parquet, Excel, SPSS, Stata or SAS. Press + or drop the file on the box; "
            "it stays on this server."
        )
        address = f"/api/v1/projects/{project}/data?name="
        box = ui.element("q-uploader").classes("w-full max-w-xl")
        box.props('auto-upload send-raw flat bordered method=PUT label="Choose or drop a file"')
        box.props[":url"] = f"files => '{address}' + encodeURIComponent(files[0].name)"
        box.props["headers"] = [{"name": "X-CSRF-Token", "value": visitor.csrf}]
        box.on("failed", lambda event: _refused(event.args), js_handler=_WHY)
        if visitor.parts.settings.databases:
            _from_database(visitor, project)


def _refused(why: Any) -> None:
    """Say why the server did not take a file, in its own words."""
    words = why if isinstance(why, str) and why else "the connection was lost; try again"
    ui.notify(f"The file was not taken: {words}", type="warning", multi_line=True, timeout=12_000,
              close_button="OK")  # fmt: skip


def _from_database(visitor: Visitor, project: str) -> None:
    """Let the person take a table of a database that the administrator allows."""
    from tacit.app.api.projects import DatabaseTable, from_database
    from tacit.app.pages.tabs.database_form import TableToTake

    with ui.expansion("Or take a table of a database").classes("w-full max-w-3xl border rounded"):
        form = TableToTake(visitor.parts.settings)

        @trying
        def take() -> None:
            if not form.table.value:
                raise ParameterError("no table is chosen", do="press “Show its tables” first")
            body = DatabaseTable(url=form.address, table=form.table.value)
            from_database(project, body, visitor.actor, visitor.parts)
            ui.notify("The table is being read.")

        ui.button("Take the table", on_click=take)


class _Columns:
    """What the columns mean, as the person sets it."""

    def __init__(self, visitor: Visitor, project: str, about: dict[str, Any]) -> None:
        self.visitor, self.project, self.about = visitor, project, about
        self.chosen: dict[str, tuple[Any, Any]] = {}

    def draw(self) -> None:
        section("What the columns mean")
        data = self.about["data"]
        hint(
            f"{data['name']}, {data['records']:,} records. This is a proposal; please check it, "
            "everything else rests on it. “An intruder may know it” is what can be looked up about "
            "somebody elsewhere, such as age or place. What “nobody should learn” stays in the "
            "file as it is unless a step changes it. Kinds: numeric for amounts, ordinal for "
            "steps in an order, nominal for names without one."
        )
        with ui.grid(columns="minmax(4rem, 2fr) minmax(7rem, 2fr) minmax(5rem, 1fr)").classes(
            "items-center w-full max-w-3xl gap-x-3 gap-y-1"
        ):
            for heading in ("Column", "Role", "Kind"):
                ui.label(heading).classes("font-bold")
            for column in self.about["columns"]:
                self._column(column)
        self.unsaved = hint("You have changed something; save it before you go on.")
        self.unsaved.set_visibility(False)
        with ui.row().classes("items-center"):
            ui.button("Save what the columns mean", on_click=trying(self._save))
            next_step("choose methods", self.project, "Plan")
            if is_log(self.about):
                way_to("Or protect it as a query log", self.project, "Query log")
        as_script(self._script)

    def _column(self, column: dict[str, Any]) -> None:
        name = column["name"]
        ui.label(name)
        role = next((r for r in column["roles"] if r in _ROLES), "")
        roles = ui.select(_ROLES, value=role)
        kinds = ui.select([str(k) for k in Kind], value=column["kind"])
        for what, field in (("role", roles), ("kind", kinds)):
            field.props("dense").props["aria-label"] = f"{what} of {name}"
            field.on_value_change(lambda: self.unsaved.set_visibility(True))
        self.chosen[name] = (roles, kinds)

    def _save(self) -> None:
        parts, actor = self.visitor.parts, self.visitor.actor
        with parts.store.read() as connection:
            found = parts.projects.open(connection, actor, self.project, Action.SEE_ORIGINAL)
            present = Schema.from_toml(found.roles)
        schema = self._wanted(present)
        parts.projects.set_roles(actor, self.project, schema, self.about["edition"])
        self.about["edition"] += 1
        self.unsaved.set_visibility(False)
        ui.notify("Saved", type="positive")

    def _script(self) -> list[tuple[str, str]]:
        about = self.visitor.parts.projects.show(self.visitor.actor, self.project)
        return [(reading_script(about), "python")]

    def _wanted(self, present: Schema) -> Schema:
        """Return the schema with the kinds and roles that were chosen, and no others."""
        schema = present.with_kinds({name: k.value for name, (_, k) in self.chosen.items()})
        bare = Schema(
            variables=[v.replace(roles=frozenset()) for v in schema.variables],
            **{n: getattr(schema, n) for n in type(schema).model_fields if n != "variables"},
        )
        wanted = {
            role: [name for name, (roles, _) in self.chosen.items() if roles.value == str(role)]
            for role in Role
        }
        return bare.with_roles({role: names for role, names in wanted.items() if names})
