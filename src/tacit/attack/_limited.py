"""Run an attack for a limited time, and stop it when that is over."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

_GRACE = 1.0
"""Seconds that an attack has to end once it is told to."""


class Stopped(BaseException):
    """Raised inside an attack whose time is over; no attack catches it."""


class Overrun(Exception):
    """An attack was stopped because its time was over."""


def within(seconds: float | None, work: Callable[[], Any]) -> Any:
    """Return what the work gives, or raise `Overrun` after so many seconds.

    The work runs in a thread of its own. Told to stop, it ends at its next step in Python; where it
    is inside one long call of compiled code it ends after that, and is not waited for.
    """
    if seconds is None:
        return work()
    outcome: list[Any] = []
    context = copy_context()

    def run() -> None:
        try:
            outcome.append((context.run(work), None))
        except BaseException as error:  # handed to the caller, who asked for the work
            outcome.append((None, error))

    thread = threading.Thread(target=run, name="tacit attack", daemon=True)
    thread.start()
    try:
        thread.join(seconds)
    except BaseException:  # an interrupt ends the attack as well
        _stop(thread)
        raise
    if thread.is_alive():
        _stop(thread)
    if not outcome or isinstance(outcome[0][1], Stopped):
        raise Overrun
    found, error = outcome[0]
    if error is not None:
        raise error
    return found


def _stop(thread: threading.Thread) -> None:
    """Raise `Stopped` inside the thread and wait a moment for it to end."""
    if thread.is_alive() and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
        )
        thread.join(_GRACE)
