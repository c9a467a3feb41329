"""The first page: one's projects, and a way to make a new one."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.pages.frame import page
from tacit.app.pages.visitor import Visitor, trying, visitor_of
from tacit.app.permissions import HOUSE, Action


def install() -> None:
    """Add the page."""
    ui.page("/")(home)


def home(request: Request) -> Any:
    """Show the projects one takes part in."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    with page(visitor, "Projects"):
        projects = visitor.parts.projects.visible(visitor.actor)
        if not projects:
            ui.label("You take part in no project yet.")
        with ui.row().classes("gap-4"):
            for project in projects:
                _card(project)
        if visitor.actor.role in HOUSE[Action.CREATE_PROJECT]:
            _new(visitor)
    return None


def _card(project: dict[str, Any]) -> None:
    asks_only = project["capacity"] == "analyst"
    address = f"/{'ask' if asks_only else 'project'}/{project['id']}"
    with ui.card().classes("w-72"):
        ui.link(project["name"], address).classes("text-lg")
        ui.label(f"You are its {project['capacity']}.").classes("text-sm text-gray-700")


def _new(visitor: Visitor) -> None:
    with ui.card().classes("w-full max-w-xl"):
        ui.label("New project").classes("text-lg font-bold")
        name = ui.input("Name", placeholder="such as: Census 2026").classes("w-full")
        name.props("stack-label")  # or the example would be written over the label
        about = ui.input("What it is for (optional)").classes("w-full")

        @trying
        def create() -> None:
            made = visitor.parts.projects.create(visitor.actor, name.value, about.value or "")
            ui.navigate.to(f"/project/{made}")

        ui.button("Create project", on_click=create)
