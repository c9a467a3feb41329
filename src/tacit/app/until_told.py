"""Processes of the app that work until they are told to stop, or until who started them is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Protocol

from tacit.app.store.database import Store

WITH_PARENT = "--with-parent"
"""Said to a process that shall not outlive the one that holds the other end of its stdin."""


class Working(Protocol):
    """Something that works until it sees that it should stop."""

    store: Store
    stopping: bool

    def run(self) -> None:
        """Work until told to stop."""


def run_until_told(work: Working) -> None:
    """Work until a signal says to stop: what is under way is brought to an end, then no more.

    The signal raises nothing, so no library can swallow it. A parent that dies, however suddenly,
    says the same: the system closes its end of the pipe.
    """

    def stop(_number: int, _frame: object) -> None:
        work.stopping = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if WITH_PARENT in sys.argv:
        threading.Thread(target=_stop_with_parent, args=(work,), daemon=True).start()
    try:
        work.run()
    finally:
        work.store.close()


def _stop_with_parent(work: Working) -> None:
    while os.read(0, 1):  # nobody writes; it ends when the parent does
        pass
    work.stopping = True
