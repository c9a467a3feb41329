"""The help text under a field, read from the source of its class.

Pydantic can do this itself, but it tokenises the source of every class it meets, which costs
several milliseconds for each of some hundred methods. Here a file is parsed once.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any


def field_help(cls: type[Any]) -> dict[str, str]:
    """Return the text under each field of a class whose statement is being executed.

    Examples
    --------
    >>> field_help(int)
    {}
    """
    frame = _defining_frame(cls.__module__)
    if frame is None:
        return {}
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    texts = _texts_by_class(frame.f_code.co_filename, source)
    return texts.get((cls.__name__, frame.f_lineno), {})


def _defining_frame(module: str) -> FrameType | None:
    """Find the frame that runs the class statement: the nearest one of the class's own module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame


@lru_cache(maxsize=32)
def _texts_by_class(_filename: str, source: str) -> dict[tuple[str, int], dict[str, str]]:
    """Map each class of a source text, by name and line, to the texts under its fields."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    found = {}
    for node in _classes(tree):
        for line in {node.lineno, *(d.lineno for d in node.decorator_list)}:
            found[node.name, line] = _texts(node)
    return found


def _classes(node: ast.AST) -> Iterator[ast.ClassDef]:
    """Find the class statements, wherever they stand; no expression holds one."""
    if isinstance(node, ast.ClassDef):
        yield node
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, block, ()):
            yield from _classes(statement)


def _texts(node: ast.ClassDef) -> dict[str, str]:
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
