"""The small language of ``--step``: ``mdav columns=Age,Income k=3``.

A step is the key of a method followed by ``name=value`` pairs. A value is read as TOML where it is
TOML (numbers, true, false, quoted text, lists, tables) and as plain text otherwise; commas make a
list. A parameter that takes text keeps it as it stands, so that a column may be called 2019.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.core.errors import ParameterError, UnknownMethodError, nearest
from tacit.core.method import Method, find, methods
from tacit.core.parameter_types import Shape, shape_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_OPEN, _CLOSE, _QUOTES, _SPACE = "[{(", "]})", "\"'", " \t\r\n"
_BARE = re.compile(r"[^\W\d][\w.-]*")
_WORDS_OF_TOML = frozenset({"true", "false", "inf", "nan"})


def parse_step(text: str, *families: str) -> Method:
    """Make a method of one of `families` from one line of text.

    Examples
    --------
    >>> parse_step("mdav columns=Age,Income k=2", "mask").as_step()
    {'method': 'mdav', 'columns': ['Age', 'Income'], 'k': 2}
    """
    words = list(_split(text, _SPACE))
    if not words:
        raise ParameterError("a step needs the name of its method", do="see: tacit methods")
    method = _find(words[0], families)
    given: dict[str, Any] = {}
    for word in words[1:]:
        name, value = _pair(word, text)
        if name in given:
            raise ParameterError(f"{method.key} is given the parameter {name!r} twice", got=text)
        given[name] = value_for(value, method.model_fields.get(name))
    return method(**given)


def _find(key: str, families: tuple[str, ...]) -> type[Method]:
    for family in families:
        with contextlib.suppress(UnknownMethodError):
            return find(key, family)
    known = [method.key for family in families for method in methods(family)]
    kind = " or ".join(families)
    raise UnknownMethodError(f"there is no {kind} method {key!r}", do=nearest(key, known))


def _pair(word: str, text: str) -> tuple[str, str]:
    if word[0] in _QUOTES:
        word = "".join(shlex.split(word))
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise ParameterError(
            "the parameters of a step are written name=value",
            got=f"{word!r} in {text!r}",
            do="put a value that has spaces in quotes",
        )
    return name.strip(), value.strip()


# -- values -----------------------------------------------------------------------------------


def value_for(text: str, field: FieldInfo | None) -> Any:
    """Read the value of a parameter as its declaration wants it."""
    shape = Shape() if field is None else shape_of(field.annotation)
    if not shape.text:
        return read_value(text)
    if shape.several or shape.table:
        return _as_text(text)
    return _unquoted(text)


def read_value(text: str) -> Any:
    """Read a value that is TOML, or nearly so, or plain text.

    Examples
    --------
    >>> read_value("0.5"), read_value("[0, 18, 65]"), read_value("north, south"), read_value("x y")
    (0.5, [0, 18, 65], ['north', 'south'], 'x y')
    """
    read = _toml_value(text)
    if read is not None or not text:
        return text if read is None else read
    if _is_wrapped(text, "{}"):
        return {name: read_value(value) for name, value in _entries(text)}
    items = _items(text)
    if _is_wrapped(text, "[]") or (items and items != [text]):
        return [read_value(item) for item in items]
    return text


def _as_text(text: str) -> Any:
    """Read a list or table in which everything is text, whatever it looks like."""
    if _is_wrapped(text, "{}"):
        return {name: _as_text(value) for name, value in _entries(text)}
    items = _items(text)
    if _is_wrapped(text, "[]") or (items and items != [text]):
        return [_as_text(item) for item in items]
    return _unquoted(text)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for entry in _split(text[1:-1], ","):
        parts = list(_split(entry, "="))
        if len(parts) < 2:
            raise ParameterError(
                "the entries of a table are written name = value", got=f"{entry!r} in {text!r}"
            )
        yield _unquoted(parts[0]), entry[entry.index("=", len(parts[0])) + 1 :].strip()


def _items(text: str) -> list[str]:
    inside = text[1:-1] if _is_wrapped(text, "[]") else text
    return list(_split(inside, ","))


def _is_wrapped(text: str, brackets: str) -> bool:
    return len(text) >= 2 and text[0] == brackets[0] and text[-1] == brackets[1]


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] not in _QUOTES or text[-1] != text[0]:
        return text
    read = _toml_value(text)
    return text[1:-1] if read is None else str(read)


def _toml_value(text: str) -> Any:
    """Read a TOML value, or nothing if it is not one; TOML itself has no missing value."""
    try:
        content = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return None
    return content["value"] if len(content) == 1 else None


def _split(text: str, marks: str) -> Iterator[str]:
    """Split at any of `marks` that stands outside quotes and brackets; drop empty parts."""
    depth, quote, start, escaped = 0, "", 0, False
    for position, char in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = char == "\\" and quote == '"'
            quote = "" if char == quote else quote
        elif char in _QUOTES and _opens_quote(text[start:position], depth):
            quote = char
        elif char in _OPEN + _CLOSE:
            depth += 1 if char in _OPEN else -1
        elif char in marks and depth <= 0:
            yield from _part(text[start:position])
            start = position + 1
    if quote:
        raise ParameterError("a quote is not closed", got=text)
    yield from _part(text[start:])


def _opens_quote(before: str, depth: int) -> bool:
    """Tell a quote that opens a text from an apostrophe inside a word (``column=Cote d'Azur``)."""
    return depth > 0 or not before.strip() or before.rstrip()[-1] in "=,"


def _part(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip()


# -- and back ---------------------------------------------------------------------------------


def step_text(key: str, parameters: Mapping[str, Any]) -> str:
    """Write a method as the line that `parse_step` reads.

    Examples
    --------
    >>> step_text("mdav", {"columns": ["Last income"], "k": 2})
    'mdav columns=["Last income"] k=2'
    """
    return " ".join([key, *(f"{name}={written(value)}" for name, value in parameters.items())])


def written(value: Any) -> str:
    """Write one value as it stands in a step."""
    if isinstance(value, list | tuple) and value and all(map(_is_bare, value)):
        return ",".join(value)
    return str(value) if _is_bare(value) else toml(value)


def _is_bare(value: Any) -> bool:
    return isinstance(value, str) and bool(_BARE.fullmatch(value)) and value not in _WORDS_OF_TOML


def toml(value: Any) -> str:
    """Write a value as TOML on one line."""
    if isinstance(value, Mapping):
        entries = (f"{toml(str(k))} = {toml(v)}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    import tomli_w

    return tomli_w.dumps({"v": value}).removeprefix("v = ").strip()
