"""Who did what in a project."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.visitor import Visitor


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    rows = [
        {
            "at": event["at"][:19].replace("T", " "),
            "who": event["who"] or "",
            "what": event["what"],
            "about": "; ".join(
                f"{k.replace('_', ' ')}: {_words(v)}" for k, v in event["about"].items()
            ),
        }
        for event in visitor.parts.projects.history(visitor.actor, project)
    ]
    columns = [
        {"name": name, "label": label, "field": name, "align": "left"}
        for name, label in (
            ("at", "at (UTC)"),
            ("who", "who"),
            ("what", "what"),
            ("about", "about"),
        )
    ]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=rows, pagination=25).props("dense flat")


def _words(value: Any) -> str:
    """Write a detail of what was done as people read it.

    Examples
    --------
    >>> _words(False), _words(["mdav", "sample"]), _words([])
    ('no', 'mdav, sample', 'none')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return str(value)
