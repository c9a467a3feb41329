"""Noisy tables that were released, kept so that a server that starts again repeats them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tacit.query._audit_store import FileStore, MemoryStore, Store


class KeptAnswers:
    """Released numbers by name, in a file that only grows, or in memory.

    Fresh noise for a table that was answered before would be a second look at the same units. A
    line half written when the machine stopped was never released; it is cut off.

    Examples
    --------
    >>> kept = KeptAnswers()
    >>> kept.put("a table", [3, 5])
    >>> kept.get("a table"), kept.get("another")
    ([3, 5], None)
    """

    def __init__(self, path: Path | None = None) -> None:
        self._store: Store = MemoryStore() if path is None else FileStore(path)
        self._known: dict[str, list[int]] = {}
        size = 0
        for line in list(self._store.lines()):
            if not line.endswith(b"\n"):
                self._store.cut(size)
                break
            entry = json.loads(line)
            self._known[entry["name"]] = entry["numbers"]
            size += len(line)

    def get(self, name: str) -> list[int] | None:
        """Return what was released under a name, or nothing."""
        return self._known.get(name)

    def put(self, name: str, numbers: Sequence[int]) -> None:
        """Keep numbers; when this returns they are on disk."""
        plain = [int(number) for number in numbers]
        line = json.dumps({"name": name, "numbers": plain}, separators=(",", ":"))
        with self._store.locked():
            self._store.append(line.encode() + b"\n")
        self._known[name] = plain
