"""Records, a page at a time, so that a file of any size can be looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.pages.visitor import explained

PAGE = 20


def shown(cell: str | None, *, real: bool) -> str:
    """Return a value as people read it: the long decimals of real numbers are rounded, here only.

    Examples
    --------
    >>> shown("34.333333333333336", real=True), shown("78.0", real=True), shown("01.50", real=False)
    ('34.333', '78', '01.50')
    """
    if cell is None:
        return ""
    if not real or not math.isfinite(number := float(cell)):
        return cell
    if 1 <= abs(number) < 1e15:
        return f"{number:.3f}".rstrip("0").rstrip(".")
    return f"{number:.5g}"


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
            real = {j for j, name in enumerate(found["columns"]) if name in found["real"]}
            rows = [
                {f"c{j}": shown(cell, real=j in real) for j, cell in enumerate(row)}
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
