"""One's own account: the password, and keys for programs."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.pages.frame import copyable, page, section
from tacit.app.pages.visitor import Visitor, trying, visitor_of


def install() -> None:
    """Add the page."""
    ui.page("/account")(account)


def account(request: Request) -> Any:
    """Show one's own account."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    with page(visitor, "Your account"):
        _password(visitor)
        _keys(visitor)
    return None


def _password(visitor: Visitor) -> None:
    section("Password")
    old = ui.input("Present password", password=True).classes("w-80 max-w-full")
    new = ui.input("Next password", password=True).classes("w-80 max-w-full")

    @trying
    def change() -> None:
        visitor.parts.accounts.change_password(visitor.actor, old.value, new.value)
        ui.navigate.to("/login")

    ui.button("Change it and log in again", on_click=change)


def _keys(visitor: Visitor) -> None:
    section("Keys for programs")
    ui.label("A key lets a program act as you over REST. It is shown once.").classes("text-sm")

    @ui.refreshable
    def keys() -> None:
        for key in visitor.parts.accounts.tokens(visitor.actor):
            with ui.row().classes("items-center"):
                used = f"last used {str(key['used'])[:10]}" if key["used"] else "never used"
                ui.label(f"{key['name']}, {used}")
                revoke = trying(lambda i=key["id"]: _revoke(visitor, str(i), keys.refresh))
                button = ui.button("Revoke", on_click=revoke).props("flat dense")
                button.props["aria-label"] = f"Revoke {key['name']}"

    keys()
    name = ui.input("What is the key for?").classes("w-80 max-w-full")
    shown = ui.column()

    @trying
    def create() -> None:
        key = visitor.parts.accounts.create_token(visitor.actor, name.value)
        shown.clear()
        with shown:
            ui.label("Copy it now:")
            copyable(key, "text")
        keys.refresh()

    ui.button("Create a key", on_click=create)


def _revoke(visitor: Visitor, key: str, redraw: Any) -> None:
    visitor.parts.accounts.revoke_token(visitor.actor, key)
    redraw()
