"""What a server remembers between requests: sets spoken of, draws, sums, requests by user."""

from __future__ import annotations

import os
import weakref
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.core.errors import ParameterError, WriteError
from tacit.query._kept_answers import KeptAnswers
from tacit.query.atoms import AtomCube
from tacit.query.history import SetHistory
from tacit.query.ledger import Ledger

_LOCK = "server.lock"


@dataclass(eq=False)
class State:
    """Memory of one server over all its users.

    It is a function of the data, the policy, the secret, the audit log and the answers kept: a
    server that starts again asks itself the logged requests and remembers the same.
    """

    cube: AtomCube
    answers: KeptAnswers = field(default_factory=KeptAnswers)
    """Answers whose noise cannot be drawn a second time."""
    histories: dict[str, SetHistory] = field(default_factory=dict)
    """Sets of units spoken of, by the guard that keeps them."""
    requests: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    """Times of the requests of each user."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What single guards remember, under their key."""

    def history(self, key: str, distance: int) -> SetHistory:
        """Return the sets that a guard keeps."""
        return self.histories.setdefault(key, SetHistory(distance))

    @property
    def ledger(self) -> Ledger:
        """Draws by atom."""
        return self.kept.setdefault("ledger", Ledger(len(self.cube)))  # type: ignore[no-any-return]


class NoMemory:
    """What a guard sees that says it remembers nothing: the atoms, and no history.

    A guard that asks for more fails, and so refuses; it cannot race with other requests.
    """

    def __init__(self, cube: AtomCube) -> None:
        self.cube = cube

    def __getattr__(self, name: str) -> Any:
        raise ParameterError(
            "this rule uses what the server remembers and says that it does not",
            got=name,
            do='set its `memory` to "always" or "tables"',
        )


class FolderLock:
    """Keeps a folder to one server at a time; two would each remember half of what was said.

    The lock ends with `release`, with the object, and with the process, however that ends.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock_now(handle)
        except OSError:
            os.close(handle)
            raise WriteError(
                "another server uses this folder",
                got=str(folder),
                do="close() it first, or give this one a folder of its own",
            ) from None
        self.release = weakref.finalize(self, _unlock, handle)


def _lock_now(handle: int) -> None:
    """Take the lock of an open file, or fail at once."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(handle: int) -> None:
    """Give the lock back, also where a child process still has the file open."""
    try:
        import fcntl
    except ModuleNotFoundError:
        pass
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)
