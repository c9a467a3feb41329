"""What all pages have in common: the bar on top, the width, the foot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nicegui import ui

from tacit.app.pages.visitor import Visitor, explained
from tacit.app.permissions import Role

_LOG_OUT = (
    '<form method="post" action="/logout"><button type="submit" style="color: inherit; background: '
    'none; border: 0; font: inherit; text-decoration: underline; cursor: pointer">Log out</button>'
    "</form>"
)
_STYLE = """
.nicegui-link:not(.text-white) {color: #17577e}
.nicegui-content {padding: 0.75rem}
:focus-visible {outline: 3px solid #8a4b08; outline-offset: 2px}
.q-field__label, .q-placeholder::placeholder {color: #4a5663; opacity: 1}
.q-select .q-field__native > span {white-space: normal; overflow: visible}
.q-menu {max-width: min(42rem, 85vw) !important}
table.cells {border-collapse: collapse; font-size: 0.875rem}
table.cells th, table.cells td {border: 1px solid #c3ccd5; padding: 0.2rem 0.6rem}
table.cells td {text-align: right}
table.cells th {background: #f4f6f8; position: sticky; top: 0}
table.cells th[scope=row] {text-align: left}
table.cells td:focus::after {content: attr(title); position: fixed; left: 0; right: 0; bottom: 0;
z-index: 10; padding: 0.8rem; background: #1c2733; color: #fff; text-align: left}
.nicegui-markdown :is(h1, h2, h3, h4, h5) {font-size: 1rem; font-weight: 600; line-height: 1.6}
.nicegui-code {max-width: 100%; overflow-x: auto}
@media (prefers-reduced-motion: reduce) {
    *, ::before, ::after {transition: none !important; animation-duration: 0.01ms !important}
}
"""


@contextmanager
def page(visitor: Visitor, title: str) -> Iterator[None]:
    """Draw the frame and, inside it, the block."""
    ui.page_title(f"{title} · tacit")
    ui.colors(
        primary="#17577e", secondary="#54708a", accent="#8a4b08",
        positive="#1b6e2e", negative="#b3261e", info="#17577e",
    )  # fmt: skip
    ui.add_css(_STYLE)
    actor = visitor.actor
    with ui.header().classes("items-center justify-between q-px-md"):
        with ui.row().classes("items-center gap-4"):
            ui.link("tacit", "/").classes("text-white text-xl no-underline font-bold")
            ui.link("Projects", "/").classes("text-white")
            if actor.role is Role.ADMINISTRATOR:
                ui.link("People", "/people").classes("text-white")
            ui.link("Coprivacy", "/coprivacy").classes("text-white")
        with ui.row().classes("items-center gap-4"):
            ui.link(f"{actor.name} ({actor.role})", "/account").classes("text-white")
            ui.html(_LOG_OUT, sanitize=False)
    with ui.column().classes("w-full max-w-screen-xl mx-auto gap-4").props('role="main"'):
        heading = ui.label(title).classes("text-2xl font-bold break-words w-full")
        heading.props('role="heading" aria-level="1"')
        yield


def section(title: str) -> None:
    """Draw the heading of a part of a page."""
    ui.label(title).classes("text-lg font-bold").props('role="heading" aria-level="2"')


def hint(text: str) -> ui.label:
    """Draw a sentence that helps."""
    return ui.label(text).classes("text-sm text-gray-700")


def next_step(words: str, project: str, tab: str) -> None:
    """Draw the way to where the work goes on."""
    way_to(f"Next: {words}", project, tab)


def way_to(words: str, project: str, tab: str) -> None:
    """Draw the way to another tab."""
    ui.link(f"{words} →", f"/project/{project}?tab={tab}").classes("font-bold")


def as_script(draw: Callable[[], list[tuple[str, str]]]) -> None:
    """Offer the script that does the same, written when it is asked for: as things are then."""

    @ui.refreshable
    def shown() -> None:
        if box.value:
            with explained():
                for text, language in draw():
                    copyable(text, language)

    with ui.expansion("The same in Python").classes("w-full") as box:
        shown()
    box.on_value_change(shown.refresh)


def copyable(text: str, language: str) -> None:
    """Show code with its copy button."""
    ui.code(text, language=language).classes("w-full")
