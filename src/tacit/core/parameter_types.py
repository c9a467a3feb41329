"""What values a parameter takes, read from its annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_SEVERAL = (tuple, list, set, frozenset)
_WORDS: dict[type, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Shape:
    """The outer form of a parameter's values."""

    text: bool = False
    """Nothing but text is allowed."""
    several: bool = False
    """A list is allowed."""
    table: bool = False
    """A table of names and values is allowed."""


def shape_of(annotation: Any) -> Shape:
    """Read the outer form of the values that an annotation allows.

    Examples
    --------
    >>> shape_of(tuple[str, ...] | None)
    Shape(text=True, several=True, table=False)
    >>> shape_of(float | None)
    Shape(text=False, several=False, table=False)
    """
    parts = list(parts_of(annotation))
    leaves = [leaf for part in parts for leaf in _leaves(part)]
    return Shape(
        text=bool(leaves) and all(leaf is str for leaf in leaves),
        several=any(_is_several(part) for part in parts),
        table=any(_is_table(part) for part in parts),
    )


def parts_of(annotation: Any) -> Iterator[Any]:
    """Yield an annotation and everything it is made of."""
    yield annotation
    if get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from parts_of(part)


def words_for(field: FieldInfo) -> str:
    """Say in plain words what values a parameter takes."""
    return "columns" if _names_columns(field.metadata) else _words(field.annotation)


def _names_columns(marks: Iterable[Any]) -> bool:
    from tacit.core.method import Columns

    return set(get_args(Columns)[1:]) <= set(marks)


def _words(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(map(str, get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "one of " + ", ".join(str(member.value) for member in annotation)
    if _is_table(annotation):
        return "table"
    if _is_several(annotation):
        inner = [a for a in get_args(annotation) if a is not Ellipsis]
        return f"list of {_words(inner[0])}" if len(set(inner)) == 1 else "list"
    return _word_or_choice(annotation)


def _word_or_choice(annotation: Any) -> str:
    if annotation in _WORDS:
        return _WORDS[annotation]
    if hasattr(annotation, "__metadata__"):
        inner, *marks = get_args(annotation)
        return "columns" if _names_columns(marks) else _words(inner)
    choices = [_words(a) for a in get_args(annotation) if a is not NoneType]
    return " or ".join(dict.fromkeys(choices)) or getattr(annotation, "__name__", "value")


def _is_several(part: Any) -> bool:
    return get_origin(part) in _SEVERAL


def _is_table(part: Any) -> bool:
    origin = get_origin(part)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _leaves(part: Any) -> Iterator[type]:
    """Yield the plain types of the values that one part of an annotation allows."""
    if get_origin(part) is Literal:
        yield from (type(value) for value in get_args(part))
    elif isinstance(part, type) and get_origin(part) is None and part is not NoneType:
        yield str if issubclass(part, Enum) else part
