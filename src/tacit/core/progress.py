"""Progress of long work, reported by methods and drawn by whoever listens.

A method says ``with track("grouping", total=n) as advance: ... advance(done)``. The command line
draws a bar, the app streams it, a library user sees nothing unless they install a listener. Every
report is also a place where the work can be stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from tacit.core import stopping

Advance = Callable[[float], None]


class Listener(Protocol):
    """Something that can show how far a task has come."""

    def task(self, title: str, total: float | None) -> AbstractContextManager[Advance]:
        """Open a task; the value of the context advances it."""


_listener: ContextVar[Listener | None] = ContextVar("tacit_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def track(title: str, total: float | None = None) -> Iterator[Advance]:
    """Report a task of `total` units; call the yielded function with units done since."""
    stopping.check()
    listener = _listener.get()
    if listener is None:
        yield lambda _units: stopping.check()
        return
    with listener.task(title, total) as advance:
        yield lambda units: _advanced(advance, units)
    stopping.check()


def _advanced(advance: Advance, units: float) -> None:
    stopping.check()
    advance(units)
