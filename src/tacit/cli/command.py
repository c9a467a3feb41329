"""Turn a plain function into a command: shared options unfolded, answer delivered.

A command is a function that takes arguments and groups of options (`Reading`, `Roles`) and returns
an `Answer`. Here each group is unfolded into its single options for typer, the options of `Output`
are added, progress is drawn while the function runs, and its answer is printed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints

from tacit.cli.console import Answer, deliver, drawn_progress
from tacit.cli.options import Output


def command(function: Callable[..., Answer]) -> Callable[..., None]:
    """Make a function that returns an `Answer` into one that typer can call."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and hint != Answer}

    @functools.wraps(function)
    def run(**given: Any) -> None:
        output = _gathered(Output, given)
        arguments = {name: _gathered(group, given) for name, group in groups.items()}
        with drawn_progress(quiet=output.quiet):
            answer = function(**arguments, **given)
        deliver(answer, as_json=output.json)

    parameters = [*_unfolded(function, hints), *_options(Output)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _unfolded(function: Callable[..., Any], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            yield from _options(hints[name])
        else:
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])


def _options(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=hints[field.name],
        )


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default


def _gathered(group: Any, given: dict[str, Any]) -> Any:
    """Take the options of a group out of what typer has parsed."""
    return group(**{field.name: given.pop(field.name) for field in fields(group)})
