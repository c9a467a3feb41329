"""The accounts of the house, for administrators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.pages.frame import hint, page, section
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
    hint(
        "A custodian works on data. A reviewer sees measurements and approves, an analyst asks "
        "query servers: neither ever sees a record. An administrator keeps the accounts."
    )
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
        for words, action in _actions(visitor, person, change):
            button = ui.button(words, on_click=trying(action)).props("flat dense")
            button.props["aria-label"] = f"{words} {person['name']}"


def _actions(
    visitor: Visitor, person: dict[str, Any], change: Callable[..., None]
) -> list[tuple[str, Callable[[], None]]]:
    """Return what may be done with an account."""
    toggle = "Close" if person["active"] else "Open"
    found = [
        (toggle, lambda: change(active=not person["active"])),
        ("New role", lambda: _new_role(person, change)),
        ("New password", lambda: _new_password(visitor, person)),
    ]
    if person["locked"]:
        found.insert(0, ("Unlock", lambda: change(unlock=True)))
    return found


def _new_role(person: dict[str, Any], change: Callable[..., None]) -> None:
    with ui.dialog() as dialog, ui.card():
        section(f"The role of {person['name']}")
        role = ui.select([str(r) for r in Role], value=person["role"], label="New role")
        role.classes("w-64")
        hint("They are logged out. An analyst or reviewer sees no record, not even of projects "
             "they own.")  # fmt: skip

        @trying
        def save() -> None:
            dialog.close()
            change(role=role.value)

        with ui.row():
            ui.button("Change the role", on_click=save)
            ui.button("Cancel", on_click=dialog.close).props("flat")
    dialog.open()


def _new_password(visitor: Visitor, person: dict[str, Any]) -> None:
    with ui.dialog() as dialog, ui.card():
        section(f"A new password for {person['name']}")
        password = ui.input("New password", password=True).classes("w-64")
        password.props("autocomplete=new-password")
        hint("Tell it to them; they are logged out and can change it under their account.")

        @trying
        def save() -> None:
            visitor.parts.accounts.reset_password(visitor.actor, person["id"], password.value or "")
            dialog.close()
            ui.notify("The password is set.", type="positive")

        with ui.row():
            ui.button("Set the password", on_click=save)
            ui.button("Cancel", on_click=dialog.close).props("flat")
    dialog.open()
