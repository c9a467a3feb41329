"""The help text under a field, read from the source of its class.

Pydantic can do this itself, but it tokenises the source of every class it meets, which costs
several milliseconds for each of some hundred methods. Here only the lines of a class that hold its
fields are parsed, which as a rule are those before its first method.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

_METHOD = re.compile(r"^([ \t]+)(?:@|def |async def )", re.MULTILINE)


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
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    for text in _cuts(lines[frame.f_lineno - 1 :]):
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue  # cut inside a text of several lines
        node = tree.body[0] if tree.body else None
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return _texts(node)
    return {}


def _defining_frame(module: str) -> FrameType | None:
    """Find the frame that runs the class statement: the nearest one of the class's own module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame


def _cuts(lines: Sequence[str]) -> Iterator[str]:
    """Cut ever more of the class statement that begins these lines, at last everything."""
    own = textwrap.dedent("".join(_of_the_first_statement(lines)))
    method = _METHOD.search(own)
    if method is not None:
        field = re.compile(rf"^{method[1]}\w+ *:", re.MULTILINE)
        if not field.search(own, method.end()):
            yield own[: method.start()]
    yield own
    yield textwrap.dedent("".join(lines))


def _of_the_first_statement(lines: Sequence[str]) -> Iterator[str]:
    """Take lines until one that is not indented begins something else."""
    margin = None
    for line in lines:
        text = line.lstrip()
        indent = len(line) - len(text)
        if margin is None:
            margin = indent
        elif text and indent <= margin and not text.startswith(("class ", "@", ")", "#")):
            return
        yield line


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
