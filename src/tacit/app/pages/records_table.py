"""Records, a page at a time, so that a file of any size can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.pages.visitor import explained

PAGE = 20


def records_table(
    read: Callable[[int, int], dict[str, Any]], title: str = ""
) -> Callable[[], object]:
    """Draw records; `read` is called with the first one and how many. Returns how to redraw."""
    state = {"first": 0}

    @ui.refreshable
    def content() -> None:
        with explained():
            found = read(state["first"], PAGE)
            columns = [
                {"name": f"c{j}", "label": name, "field": f"c{j}", "align": "left"}
                for j, name in enumerate(found["columns"])
            ]
            rows = [
                {f"c{j}": "" if cell is None else cell for j, cell in enumerate(row)}
                for row in found["rows"]
            ]
            last = min(state["first"] + PAGE, found["total"])
            with ui.element("div").classes("w-full overflow-x-auto"):
                ui.table(columns=columns, rows=rows, title=title or None).props("dense flat")
            with ui.row().classes("items-center"):
                ui.button("Earlier", on_click=lambda: move(-PAGE)).props("flat dense").set_enabled(
                    state["first"] > 0
                )
                ui.label(f"{state['first'] + 1:,} to {last:,} of {found['total']:,}")
                ui.button("Later", on_click=lambda: move(PAGE)).props("flat dense").set_enabled(
                    last < found["total"]
                )

    def move(by: int) -> None:
        state["first"] = max(0, state["first"] + by)
        content.refresh()

    with ui.column().classes("w-full min-w-0"):
        content()
    return content.refresh
