"""A form for any method, drawn from what it declares about its parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from nicegui import ui

from tacit.core.errors import ParameterError
from tacit.core.method import Method
from tacit.core.parameter_types import parts_of, words_for

if TYPE_CHECKING:
    from tacit.federated import Analysis

Reader = Callable[[], Any]
_OF_COLUMNS = ("variables", "x", "by", "totals")
_OF_A_COLUMN = ("column", "y", "variable", "unit", "by", "number", "time", "status")
"""Parameters that hold names of columns and are declared as text."""
UNSET = object()
"""What a field gives that was left empty: the method's own default counts."""


def method_form(
    method: type[Method | Analysis],
    columns: Sequence[str],
    values: dict[str, Any] | None = None,
    *,
    without: str = "",
) -> Callable[[], dict[str, Any]]:
    """Draw the fields of a method, but one; the result reads the step that was filled in."""
    given = values or {}
    readers: dict[str, Reader] = {}
    summary = (method.__doc__ or "").strip().split("\n")[0]
    ui.markdown(_without_markup(summary)).classes("text-sm")
    for name, field in method.model_fields.items():
        if name == without:
            continue
        label = name.replace("_", " ")
        if field.is_required():
            label += " *"
        readers[name] = _field(label, field, columns, given.get(name, UNSET))
        if field.description:
            ui.label(" ".join(field.description.split())).classes("text-xs text-gray-700 -mt-3")

    def step() -> dict[str, Any]:
        found = {name: read() for name, read in readers.items()}
        filled = {name: value for name, value in found.items() if value is not UNSET}
        return {"method": method.key, **filled}

    return step


def _field(label: str, field: Any, columns: Sequence[str], value: Any) -> Reader:
    """Draw the widget that fits the values of a parameter."""
    words = words_for(field)
    shown = None if value is UNSET else value
    choices = _choices(field.annotation)
    default = None if field.is_required() or not _is_plain(field.default) else field.default
    if words == "columns":
        return _columns(label, columns, shown)
    name = label.removesuffix(" *")
    if words == "list of text" and name in _OF_COLUMNS:
        return _names(label, columns, shown)
    if words == "text" and name in _OF_A_COLUMN and columns:
        return _choice(label, {c: c for c in columns}, shown)
    if choices:
        return _choice(label, {c: str(c) for c in choices}, shown if shown is not None else default)
    if words == "true or false" and default is None and not field.is_required():
        return _choice(label, {True: "yes", False: "no"}, shown)  # empty: as the data allow
    if words == "true or false":
        box = ui.switch(label, value=bool(shown if shown is not None else default))
        return lambda: bool(box.value)
    if words in ("number", "whole number"):
        return _number(label, shown if shown is not None else default, whole=words[0] == "w")
    if words == "text":
        text = ui.input(label, value=str(shown or default or "")).classes("w-full")
        return lambda: text.value if text.value else UNSET
    return _free(label, words, shown)


def _columns(label: str, columns: Sequence[str], value: Any) -> Reader:
    chosen = [value] if isinstance(value, str) else list(value or [])
    box = ui.select(list(columns), label=label, multiple=True, value=chosen).classes("w-full")
    box.props("use-chips")
    return lambda: list(box.value) if box.value else UNSET


def _names(label: str, columns: Sequence[str], value: Any) -> Reader:
    """Draw a field for names of columns, which others may have too."""
    box = ui.select(
        list(columns), label=label, multiple=True, value=list(value or []),
        new_value_mode="add-unique",
    ).classes("w-full")  # fmt: skip
    box.props("use-chips")
    return lambda: list(box.value) if box.value else UNSET


def _choice(label: str, options: dict[Any, str], value: Any) -> Reader:
    chosen = value if value in options else None
    box = ui.select(options, label=label, value=chosen, clearable=True).classes("w-full")
    return lambda: UNSET if box.value is None else box.value


def _number(label: str, value: Any, *, whole: bool) -> Reader:
    box = ui.number(label, value=value, step=1 if whole else None).classes("w-full")

    def read() -> Any:
        if box.value is None:
            return UNSET
        return int(box.value) if whole and float(box.value).is_integer() else box.value

    return read


def _free(label: str, words: str, value: Any) -> Reader:
    """Draw a field for values of several forms, written as JSON."""
    text = "" if value is None else json.dumps(value, ensure_ascii=False)
    box = ui.input(f"{label} ({words}, as JSON)", value=text).classes("w-full")

    def read() -> Any:
        if not box.value or not box.value.strip():
            return UNSET
        try:
            return json.loads(box.value)
        except ValueError:
            pass
        if "text" in words or "one of" in words:
            return box.value
        raise ParameterError(f"{label} is not valid JSON", got=box.value[:200])

    return read


def _choices(annotation: Any) -> list[Any]:
    """Return the values of a parameter that is nothing but a choice."""
    parts = [part for part in parts_of(annotation) if part is not type(None)]
    found: list[Any] = []
    for part in parts:
        if get_origin(part) is Literal:
            found += list(get_args(part))
        elif isinstance(part, type) and issubclass(part, Enum):
            found += [str(member.value) for member in part]
        elif isinstance(part, type) and get_origin(part) is None:
            return []
    return found


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _without_markup(text: str) -> str:
    return text.replace("``", "`")
