"""Variables as chips that are dragged into a field; the field works without a mouse too."""

from __future__ import annotations

from collections.abc import Iterable

from nicegui import ui


def chips(names: Iterable[str]) -> dict[str, str]:
    """Draw a chip for each name; the result holds the one that is being dragged."""
    held: dict[str, str] = {}
    with ui.row().classes("gap-1"):
        for name in names:
            chip = ui.chip(name, color="blue-grey-1", text_color="black").props('draggable="true"')
            chip.on("dragstart", lambda n=name: held.update(name=n))
    return held


def takes_one(field: ui.select, held: dict[str, str]) -> None:
    """Let a field take the chip that is dropped on it, if it is one of its options."""

    def drop() -> None:
        if held.get("name") in field.options:
            field.set_value(held["name"])

    _on_drop(field, drop)


def takes_several(field: ui.select, held: dict[str, str]) -> None:
    """Let a field add the chip that is dropped on it."""

    def drop() -> None:
        name = held.get("name")
        if name in field.options and name not in field.value:
            field.set_value([*field.value, name])

    _on_drop(field, drop)


def _on_drop(field: ui.select, drop: object) -> None:
    field.on("dragover", js_handler="(event) => event.preventDefault()")
    field.on("drop.prevent", drop)  # type: ignore[arg-type]
