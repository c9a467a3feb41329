"""The accounts of the house, for administrators."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.pages.frame import page, section
from tacit.app.pages.visitor import Visitor, trying, visitor_of
from tacit.app.permissions import Role


def install() -> None:
    """Add the page."""
    ui.page("/people")(people)


def people(request: Request) -> Any:
    """Show the accounts."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    if visitor.actor.role is not Role.ADMINISTRATOR:
        ui.status_code(404)
        with page(visitor, "There is no such page"):
            ui.link("Back to your projects", "/")
        return None
    with page(visitor, "People"):
        _list(visitor)
    return None


def _list(visitor: Visitor) -> None:
    @ui.refreshable
    def content() -> None:
        for person in visitor.parts.accounts.people(visitor.actor):
            _person(visitor, person, content.refresh)

    content()
    section("New account")
    with ui.row().classes("items-end"):
        name = ui.input("Name")
        role = ui.select([str(r) for r in Role], value="custodian", label="Role").classes("w-48")
        password = ui.input("First password", password=True)

        @trying
        def create() -> None:
            visitor.parts.accounts.create(visitor.actor, name.value, role.value, password.value)
            content.refresh()

        ui.button("Create account", on_click=create)


def _person(visitor: Visitor, person: dict[str, Any], redraw: Any) -> None:
    def change(**what: Any) -> None:
        visitor.parts.accounts.change(visitor.actor, person["id"], **what)
        redraw()

    with ui.row().classes("items-center"):
        state = "" if person["active"] else ", closed"
        state += ", locked" if person["locked"] else ""
        ui.label(f"{person['name']}, {person['role']}{state}").classes("w-80 max-w-full")
        if person["locked"]:
            unlock = ui.button("Unlock", on_click=trying(lambda: change(unlock=True)))
            unlock.props("flat dense").props["aria-label"] = f"Unlock {person['name']}"
        word = "Close" if person["active"] else "Open"
        toggle = trying(lambda: change(active=not person["active"]))
        button = ui.button(word, on_click=toggle).props("flat dense")
        button.props["aria-label"] = f"{word} {person['name']}"
