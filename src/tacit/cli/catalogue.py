"""The registry in words: each method with its parameters, limits, help and an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.fields import FieldInfo

from tacit.cli.steps import step_text, toml
from tacit.core.method import Method, Try
from tacit.core.parameter_types import parts_of, words_for

_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_SECTION = re.compile(r"^(Notes|Examples|References|See Also|Parameters)\n-+$", re.MULTILINE)


def described(method: type[Method]) -> dict[str, Any]:
    """Return what a user needs to know about a method, as plain data."""
    return {
        "key": method.key,
        "family": method.family,
        "title": method.title,
        "summary": method.summary(),
        "documentation": inspect.cleandoc(method.__doc__ or ""),
        "parameters": [_parameter(n, f) for n, f in method.model_fields.items()],
        "cites": list(method.cites),
        "example": dict(method.example),
        **_example_forms(method),
    }


def prose(documentation: str) -> str:
    """Return the plain words of a method's documentation, without formulas and examples."""
    text = _SECTION.split(documentation, maxsplit=1)[0].strip()
    return text.replace("``", "")


def _example_forms(method: type[Method]) -> dict[str, str]:
    """Write the example as a step of a plan file and as a ``--step`` option."""
    lines = [f"{name} = {toml(value)}" for name, value in method.example.items()]
    return {
        "example_toml": "\n".join(["[[step]]", f"method = {toml(method.key)}", *lines]),
        "example_step": step_text(method.key, method.example),
    }


def _parameter(name: str, field: FieldInfo) -> dict[str, Any]:
    hints = list(_hints(field))
    return {
        "name": name,
        "type": words_for(field),
        "required": field.is_required(),
        "default": None
        if field.is_required()
        else _plain(field.get_default(call_default_factory=True)),
        "limits": [text for hint in hints for text in _limits(hint)],
        "try": [_plain(v) for hint in hints if isinstance(hint, Try) for v in hint.values],
        "help": field.description or "",
    }


def _hints(field: FieldInfo) -> Iterator[Any]:
    """Yield the marks on a field's annotation, also those inside ``X | None``."""
    yield from field.metadata
    for part in parts_of(field.annotation):
        for mark in getattr(part, "__metadata__", ()):
            yield from mark.metadata if isinstance(mark, FieldInfo) else [mark]


def _limits(hint: Any) -> Iterator[str]:
    for name, words in _LIMITS.items():
        limit = getattr(hint, name, None)
        if limit is not None:
            yield f"{words} {limit:g}" if isinstance(limit, float) else f"{words} {limit}"


def _plain(value: Any) -> Any:
    """Turn a default into what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
