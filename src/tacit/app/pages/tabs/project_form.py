"""The project itself: its name, what it is for, and its end."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.frame import hint, section
from tacit.app.pages.visitor import Visitor, trying
from tacit.core.errors import ParameterError


def project_form(visitor: Visitor, about: dict[str, Any]) -> None:
    """Draw the fields; only the owner may delete."""
    section("The project")
    name = ui.input("Name of the project", value=about["name"]).classes("w-80 max-w-full")
    words = ui.input("What it is for", value=about["description"]).classes("w-full max-w-xl")

    @trying
    def rename() -> None:
        visitor.parts.projects.rename(visitor.actor, about["id"], name.value, words.value or "")
        ui.navigate.to(f"/project/{about['id']}?tab=People")

    with ui.row():
        ui.button("Save name and purpose", on_click=rename).props("outline")
        if about["capacity"] == "owner":
            delete = lambda: _delete(visitor, about)  # noqa: E731
            ui.button("Delete the project", on_click=delete).props("flat color=negative")


def _delete(visitor: Visitor, about: dict[str, Any]) -> None:
    """Ask for the name, as nothing brings the data back."""
    with ui.dialog() as dialog, ui.card():
        section("Delete the project?")
        ui.label("Its data, versions, tables and query server are gone for good.")
        typed = ui.input("Type its name to go on").classes("w-full")
        hint(f"The name is: {about['name']}")

        @trying
        def delete() -> None:
            if (typed.value or "").strip() != about["name"]:
                raise ParameterError("this is not the name of the project", do="type it as it is")
            visitor.parts.projects.delete(visitor.actor, about["id"])
            ui.navigate.to("/")

        with ui.row():
            ui.button("Delete", on_click=delete).props("color=negative")
            ui.button("Keep it", on_click=dialog.close).props("flat")
    dialog.open()
