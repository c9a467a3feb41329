"""Who did what in a project."""

from __future__ import annotations

from nicegui import ui

from tacit.app.pages.visitor import Visitor


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    rows = [
        {
            "at": event["at"][:19].replace("T", " "),
            "who": event["who"] or "",
            "what": event["what"],
            "about": "; ".join(f"{k}: {v}" for k, v in event["about"].items()),
        }
        for event in visitor.parts.projects.history(visitor.actor, project)
    ]
    columns = [
        {"name": name, "label": name, "field": name, "align": "left"}
        for name in ("at", "who", "what", "about")
    ]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=rows, pagination=25).props("dense flat")
