"""Links to the files of a version, as many as there are."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.visitor import Visitor

_FIRST = ("data", "table", "log")
"""How the names begin of the files that people come for."""


def file_links(visitor: Visitor, version: dict[str, Any]) -> None:
    """Draw a line of links for readers, and one of what stays in the house."""
    draft = "" if version["state"] == "approved" else " (a draft until it is approved)"
    words = {
        "public": f"Download the result{draft}",
        "dossier": "Evidence, stays in the house",
    }
    address = f"/api/v1/versions/{version['id']}/files"
    for part, names in visitor.parts.versions.files(visitor.actor, version["id"]).items():
        with ui.row().classes("items-center"):
            ui.label(f"{words[part]}:").classes("font-bold")
            for name in sorted(names, key=lambda n: not n.startswith(_FIRST)):
                ui.link(name, f"{address}/{part}/{name}").props("download")
