"""The data of a project: upload, what the columns mean, the records."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.frame import hint, next_step, section
from tacit.app.pages.records_table import records_table
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.visitor import Visitor, trying
from tacit.core.schema import Kind, Role, Schema

_ROLES = {
    "": "no role",
    "identifier": "identifies directly (removed)",
    "key": "an intruder may know it",
    "confidential": "nobody should learn it",
    "weight": "sampling weight",
    "household": "household",
    "stratum": "stratum",
}


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        _upload(visitor, project, bool(about["data"]))
        if about["data"]:
            _columns(visitor, project, about)
            section("Records")
            read = lambda first, count: visitor.parts.projects.page(  # noqa: E731
                visitor.actor, project, first, count
            )
            records_table(read)

    jobs_view.watch(visitor, project, content.refresh)
    content()


def _upload(visitor: Visitor, project: str, has_data: bool) -> None:
    """Let the browser send a file straight to the REST interface, of any size."""
    title = "Replace the data by another file" if has_data else "Upload a file"
    with ui.expansion(title, value=not has_data).classes("w-full"):
        ui.label("CSV, Parquet, Excel, SPSS, Stata or SAS. It stays on this server.")
        address = f"/api/v1/projects/{project}/data?name="
        box = ui.element("q-uploader").classes("w-full max-w-xl")
        box.props('auto-upload send-raw flat bordered method=PUT label="Choose or drop a file"')
        box.props[":url"] = f"files => '{address}' + encodeURIComponent(files[0].name)"
        box.props["headers"] = [{"name": "X-CSRF-Token", "value": visitor.csrf}]
        box.on("failed", lambda: ui.notify("The file was refused: its kind is not known, it is "
                                           "empty or too large.", type="warning"))  # fmt: skip
        if visitor.parts.settings.databases:
            _from_database(visitor, project)


def _from_database(visitor: Visitor, project: str) -> None:
    """Let the person take a table of a database that the administrator allows."""
    from tacit.app.api.projects import DatabaseTable, from_database

    hint("Or take a table of a database:")
    with ui.row().classes("items-end"):
        url = ui.input("Address", value=visitor.parts.settings.databases[0]).classes("w-96")
        table = ui.input("Table")

        @trying
        def take() -> None:
            body = DatabaseTable(url=url.value or "", table=table.value or "")
            from_database(project, body, visitor.actor, visitor.parts)
            ui.notify("The table is being read.")

        ui.button("Take the table", on_click=take)


def _columns(visitor: Visitor, project: str, about: dict[str, Any]) -> None:
    section("What the columns mean")
    data = about["data"]
    hint(
        f"{data['name']}, {data['records']:,} records. This is a proposal; please check it, "
        "everything else rests on it. Keys are what an intruder may know of somebody."
    )
    chosen: dict[str, tuple[Any, Any]] = {}
    with ui.grid(columns="minmax(4rem, 2fr) minmax(7rem, 2fr) minmax(5rem, 1fr)").classes(
        "items-center w-full max-w-3xl gap-x-3 gap-y-1"
    ):
        for heading in ("Column", "Role", "Kind"):
            ui.label(heading).classes("font-bold")
        for column in about["columns"]:
            name = column["name"]
            ui.label(name)
            role = next((r for r in column["roles"] if r in _ROLES), "")
            roles = ui.select(_ROLES, value=role).props(f'dense aria-label="role of {name}"')
            kinds = ui.select([str(k) for k in Kind], value=column["kind"])
            kinds.props(f'dense aria-label="kind of {name}"')
            chosen[name] = (roles, kinds)

    @trying
    def save() -> None:
        with visitor.parts.store.read() as connection:
            from tacit.app.permissions import Action

            found = visitor.parts.projects.open(
                connection, visitor.actor, project, Action.SEE_ORIGINAL
            )
            present = Schema.from_toml(found.roles)
        schema = present.with_kinds({name: kinds.value for name, (_r, kinds) in chosen.items()})
        wanted = {
            role: [name for name, (roles, _k) in chosen.items() if roles.value == str(role)]
            for role in Role
        }
        bare = Schema(
            variables=[v.replace(roles=frozenset()) for v in schema.variables],
            **{n: getattr(schema, n) for n in type(schema).model_fields if n != "variables"},
        )
        given = {role: names for role, names in wanted.items() if names}
        visitor.parts.projects.set_roles(
            visitor.actor, project, bare.with_roles(given), about["edition"]
        )
        about["edition"] += 1
        ui.notify("Saved", type="positive")

    with ui.row().classes("items-center"):
        ui.button("Save what the columns mean", on_click=save)
        next_step("choose methods", project, "Plan")
