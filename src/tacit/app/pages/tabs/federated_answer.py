"""What agencies computed together, or who failed and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import copyable

_NOT_RESULTS = ("agencies", "missing", "n_sums")


def answer_view(job: dict[str, Any]) -> None:
    """Draw how one question to agencies ended."""
    with ui.card().classes("w-full"):
        when = str(job["created"])[:19].replace("T", " ")
        if job["state"] == "failed":
            ui.label(f"No result (asked {when})").classes("font-bold").props('role="status"')
            ui.label(str(job["message"]))
            return
        answer = job["result"]["answer"]
        title = f"Result of {job['result']['analysis']['analysis']} (asked {when})"
        ui.label(title).classes("font-bold").props('role="status"')
        ui.label(f"Agencies in it: {', '.join(answer['agencies'])}")
        for name, why in answer["missing"].items():
            ui.label(f"Without {name}: {why}").classes("text-negative")
        _values({n: v for n, v in answer.items() if n not in _NOT_RESULTS})
        with ui.expansion("As data").classes("w-full"):
            copyable(json.dumps(answer, ensure_ascii=False, indent=1), "json")


def _values(values: dict[str, Any]) -> None:
    """Draw numbers as lines, and numbers by the same names as the columns of one table."""
    for name, value in values.items():
        if isinstance(value, int | float | str | bool):
            ui.label(f"{name.replace('_', ' ')}: {_short(value)}")
    tables: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value and all(map(_is_number, value.values())):
            tables.setdefault(tuple(value), {})[name] = value
    for rows, columns in tables.items():
        with ui.element("div").classes("w-full overflow-x-auto"):
            ui.html(_table(rows, columns), sanitize=False)


def _table(rows: tuple[str, ...], columns: dict[str, Mapping[str, Any]]) -> str:
    heads = "".join(f'<th scope="col">{escape(c.replace("_", " "))}</th>' for c in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>'
        + "".join(f"<td>{_short(values[row])}</td>" for values in columns.values())
        + "</tr>"
        for row in rows
    )
    head = f"<thead><tr><th></th>{heads}</tr></thead>"
    return f'<table class="cells">{head}<tbody>{body}</tbody></table>'


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or value is None


def _short(value: Any) -> str:
    """Write a number as people read it.

    Examples
    --------
    >>> _short(12345.678), _short(60), _short(0.000123456)
    ('12,345.7', '60', '0.000123456')
    """
    if isinstance(value, float):
        return f"{value:,.6g}"
    return escape(str("" if value is None else value))
