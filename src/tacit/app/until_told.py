"""Processes of the app that work until they are told to stop."""

from __future__ import annotations

import signal
from typing import Protocol

from tacit.app.store.database import Store


class Working(Protocol):
    """Something that works until it sees that it should stop."""

    store: Store
    stopping: bool

    def run(self) -> None:
        """Work until told to stop."""


def run_until_told(work: Working) -> None:
    """Work until a signal says to stop: what is under way is brought to an end, then no more.

    The signal raises nothing, so no library can swallow it.
    """

    def stop(_number: int, _frame: object) -> None:
        work.stopping = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        work.run()
    finally:
        work.store.close()
