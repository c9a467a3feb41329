"""What a person or a program sees: answers on stdout, progress, warnings and errors on stderr."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.core.errors import WriteError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

_PIPE_WIDTH = 120
"""Width of tables that do not go to a terminal."""


@dataclass(frozen=True)
class Answer:
    """What a command found out, for programs and for people."""

    document: Mapping[str, Any]
    """The answer as plain data, printed with ``--json``."""
    drawing: Iterable[RenderableType]
    """The answer as tables and lines."""
    warnings: tuple[str, ...] = ()
    """What the user must know before trusting the answer."""


def console(*, stderr: bool = False) -> Console:
    """Open a console on the stream that is stdout (or stderr) now."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    plain = Console(file=stream, highlight=False, markup=False, emoji=False)
    if not plain.is_terminal and not plain._environ.get("COLUMNS"):
        plain.width = _PIPE_WIDTH
    return plain


def deliver(answer: Answer, *, as_json: bool) -> None:
    """Print an answer: one JSON document, or a drawing; warnings go to stderr."""
    for warning in answer.warnings:
        say("warning", warning)
    if as_json:
        print_json({**answer.document, "warnings": list(answer.warnings)})
        return
    out = console()
    with _stdout():
        for part in answer.drawing:
            out.print(part)


def print_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    with _stdout():
        sys.stdout.write(text + "\n")


@contextmanager
def _stdout() -> Iterator[None]:
    """Stop writing quietly when the reader has gone, and say so when a file is full."""
    try:
        yield
        sys.stdout.flush()
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):  # which rich turns into an exit
            raise
        _discard_the_rest()
    except OSError as error:
        _discard_the_rest()
        if not isinstance(error, BrokenPipeError):
            raise WriteError(f"could not write to standard output: {error.strerror}") from error


def _discard_the_rest() -> None:
    """Send what is still buffered nowhere, so that flushing it at the end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(level: str, message: str) -> None:
    """Write one line to stderr: ``error: ...`` or ``warning: ...``."""
    sys.stderr.write(f"{level}: {one_line(message)}\n")


def one_line(message: str) -> str:
    r"""Fold a message into one line without control characters.

    Examples
    --------
    >>> one_line("could not read\n  the\x1b[2J file")
    'could not read the?[2J file'
    """
    folded = " ".join(message.split())
    return "".join(c if c.isprintable() else "?" for c in folded)


# -- progress ---------------------------------------------------------------------------------


class Bars:
    """Draw the progress of tasks as bars that vanish when the work is done.

    Between tasks nothing is drawn: a display that goes on would wipe out a question to the person
    at the terminal.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress, self._lock, self._open = progress, threading.Lock(), 0

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Callable[[float], None]]:
        """Open a bar; the value of the context advances it."""
        bar = self._progress.add_task(title, total=total)
        self._count(1)
        try:
            yield lambda units: self._progress.advance(bar, units)
        finally:
            self._progress.remove_task(bar)
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._open += change
            if self._open and change > 0:
                self._progress.start()
            elif not self._open:
                self._progress.stop()


@contextmanager
def drawn_progress(*, quiet: bool) -> Iterator[None]:
    """Draw the progress of everything inside the block, if somebody is there to look."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    from tacit.core.progress import listening

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    bars = Progress(*columns, console=console(stderr=True), transient=True)
    with listening(Bars(bars)):
        yield
