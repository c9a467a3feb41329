"""Variables as chips that are dragged into a field, or pressed; the field works by itself too."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nicegui import ui


class Chips:
    """A chip for each name: it is dragged, or pressed with a finger, the mouse or Enter."""

    def __init__(self, names: Iterable[str]) -> None:
        self.held = ""
        """The name that is being dragged."""
        self._press: Callable[[str], None] = lambda _name: None
        with ui.row().classes("gap-1"):
            for name in names:
                self._draw(name)

    def _draw(self, name: str) -> None:
        pressed = lambda: self._press(name)  # noqa: E731
        chip = ui.chip(name, color="blue-grey-1", text_color="black", on_click=pressed)
        chip.props('draggable="true" role="button"').props["aria-label"] = f"Put {name} in"
        chip.on("dragstart", lambda: setattr(self, "held", name))

    def pressed(self, press: Callable[[str], None]) -> None:
        """Say what happens to a name that is pressed."""
        self._press = press


def takes_one(field: ui.select, chips: Chips) -> None:
    """Let a field take the chip that is dropped on it, if it is one of its options."""

    def drop() -> None:
        if chips.held in field.options:
            field.set_value(chips.held)

    _on_drop(field, drop)


def takes_several(field: ui.select, chips: Chips) -> None:
    """Let a field add the chip that is dropped on it, or that is pressed."""

    def add(name: str) -> None:
        if name in field.options and name not in field.value:
            field.set_value([*field.value, name])

    _on_drop(field, lambda: add(chips.held))
    chips.pressed(add)


def _on_drop(field: ui.select, drop: Callable[[], None]) -> None:
    field.on("dragover", js_handler="(event) => event.preventDefault()")
    field.on("drop.prevent", drop)
