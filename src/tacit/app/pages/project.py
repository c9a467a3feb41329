"""The page of a project: its tabs, in the order of the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.pages.frame import page
from tacit.app.pages.tabs import (
    data_tab,
    federation_tab,
    history_tab,
    log_tab,
    people_tab,
    plan_tab,
    query_tab,
    tables_tab,
    versions_tab,
    wizard_tab,
)
from tacit.app.pages.visitor import Visitor, explained, visitor_of
from tacit.app.permissions import NotFoundError

_INSIDE: dict[str, Callable[[Visitor, str], None]] = {
    "Data": data_tab.show,
    "Plan": plan_tab.show,
    "Wizard": wizard_tab.show,
    "Versions": versions_tab.show,
    "Tables": tables_tab.show,
    "Query log": log_tab.show,
    "Query": query_tab.show,
    "Partners": federation_tab.show,
    "People": people_tab.show,
    "History": history_tab.show,
}
_REVIEWING = ("Versions", "History")


def install() -> None:
    """Add the page."""
    ui.page("/project/{project}")(project_page)


def project_page(request: Request, project: str, tab: str = "") -> Any:
    """Show a project to those who take part in it."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    try:
        about = visitor.parts.projects.show(visitor.actor, project)
    except NotFoundError:
        ui.status_code(404)
        with page(visitor, "There is no such project"):
            ui.link("Back to your projects", "/")
        return None
    inside = about["capacity"] in ("owner", "custodian")
    names = list(_INSIDE) if inside else list(_REVIEWING)
    if inside and not log_tab.is_log(about):
        names.remove("Query log")
    if inside and not federation_tab.is_set_up(visitor):
        names.remove("Partners")
    with page(visitor, about["name"]):
        if about["description"]:
            ui.label(about["description"])
        _tabs(visitor, project, names, tab if tab in names else _first(about, names))
    return None


def _first(about: dict[str, Any], names: list[str]) -> str:
    """Return the tab where the work goes on."""
    return names[0] if names[0] != "Data" or not about.get("data") else "Plan"


def _tabs(visitor: Visitor, project: str, names: list[str], first: str) -> None:
    """Draw a tab when it is opened, so that it shows how things are then."""
    with ui.tabs().classes("w-full") as tabs:
        for name in names:
            ui.tab(name)
    area = ui.column().classes("w-full").props("role=tabpanel")

    def draw(name: str) -> None:
        area.clear()
        area.props["aria-label"] = name
        with area, explained():
            _INSIDE[name](visitor, project)

    tabs.on_value_change(lambda event: draw(event.value))
    tabs.set_value(first)
