"""Stop signals that no library can swallow.

Python turns a signal into an exception wherever the program happens to be. Where that is inside a
library that drops exceptions (extension modules do while they are imported), the exception is lost
and the work goes on as if nobody had asked. A program that installs `on_signal` remembers what it
was asked; `check` raises it again at the next step of the work, and before anything is published.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_asked: list[BaseException] = []


def on_signal(name: str, error: BaseException) -> None:
    """Leave the work by raising `error` when the signal comes, if this system knows it."""
    if not hasattr(signal, name):
        return

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        _asked.append(error)
        raise error

    signal.signal(getattr(signal, name), stop)


def check() -> None:
    """Raise what a signal has asked for, if it was lost on the way."""
    if _asked:
        raise _asked[-1]


def answered() -> None:
    """Say that the signal has had its effect, and what follows is meant to be done."""
    _asked.clear()
