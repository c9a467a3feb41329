"""What all pages have in common: the bar on top, the width, the foot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui

from tacit.app.pages.visitor import Visitor
from tacit.app.permissions import Role

_LOG_OUT = (
    '<form method="post" action="/logout"><button type="submit" style="color: inherit; background: '
    'none; border: 0; font: inherit; text-decoration: underline; cursor: pointer">Log out</button>'
    "</form>"
)


@contextmanager
def page(visitor: Visitor, title: str) -> Iterator[None]:
    """Draw the frame and, inside it, the block."""
    ui.page_title(f"{title} · tacit")
    ui.colors(primary="#17577e", secondary="#54708a", accent="#8a4b08")
    actor = visitor.actor
    with ui.header().classes("items-center justify-between q-px-md"):
        with ui.row().classes("items-center gap-4"):
            ui.link("tacit", "/").classes("text-white text-xl no-underline font-bold")
            ui.link("Projects", "/").classes("text-white")
            if actor.role is Role.ADMINISTRATOR:
                ui.link("People", "/people").classes("text-white")
        with ui.row().classes("items-center gap-4"):
            ui.link(f"{actor.name} ({actor.role})", "/account").classes("text-white")
            ui.html(_LOG_OUT, sanitize=False)
    with ui.column().classes("w-full max-w-screen-xl mx-auto q-pa-sm gap-4"):
        ui.label(title).classes("text-2xl font-bold").props('role="heading" aria-level="1"')
        yield


def section(title: str) -> None:
    """Draw the heading of a part of a page."""
    ui.label(title).classes("text-lg font-bold").props('role="heading" aria-level="2"')


def copyable(text: str, language: str) -> None:
    """Show code with its copy button."""
    ui.code(text, language=language).classes("w-full")
