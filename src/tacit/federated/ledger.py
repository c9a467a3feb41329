"""An agency's own log: every request and release, each entry chained to the one before."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError, WriteError

_FIRST = "0" * 64


class Ledger:
    """A log that survives restarts; editing, dropping or reordering entries is found.

    Entries cut off at the end are not: keep copies of the file, or of its last digest, elsewhere.

    Parameters
    ----------
    path
        The file, one JSON object per line; None to keep the log in memory.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.add("released", columns=["age"])
    >>> [entry["event"] for entry in ledger.entries()]
    ['released']
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []
        if self._path is not None and self._path.exists():
            self._entries = _read(self._path)
            verify(self._entries)

    def add(self, event: str, **facts: Any) -> None:
        """Write an entry; it is on disk before this returns."""
        with self._lock:
            last = self._entries[-1]["digest"] if self._entries else _FIRST
            entry = {"time": round(time.time(), 3), "event": event, **facts, "previous": last}
            entry["digest"] = _digest(entry)
            self._write(entry)
            self._entries.append(entry)

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, oldest first."""
        with self._lock:
            return list(self._entries)

    def released(self) -> list[dict[str, Any]]:
        """Return the entries of sums that were released."""
        return [entry for entry in self.entries() if entry["event"] == "released"]

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        import os

        try:
            # Half a pair of surrogates, which no file can hold, is written as JSON would escape it.
            with open(
                self._path, "a", encoding="utf-8", errors="backslashreplace", opener=_own
            ) as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise WriteError(f"the log could not be written: {error.strerror}") from error


def _own(path: str, flags: int) -> int:
    """Open a file that, if it is new, only its owner can read."""
    import os

    return os.open(path, flags, 0o600)


def verify(entries: list[dict[str, Any]]) -> None:
    """Refuse a log that was changed after it was written."""
    last = _FIRST
    for number, entry in enumerate(entries, start=1):
        told = entry if isinstance(entry, dict) else {}
        if told.get("previous") != last or told.get("digest") != _digest(told):
            raise ReadError(
                "the log of the agency was changed",
                got=f"entry {number}",
                do="find out by whom before answering anything",
            )
        last = entry["digest"]


def _digest(entry: Mapping[str, Any]) -> str:
    facts = {name: value for name, value in entry.items() if name != "digest"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        # Not `splitlines`: a purpose may hold other signs that end a line for it.
        lines = path.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise ReadError("the log of the agency could not be read", got=str(path)) from error
