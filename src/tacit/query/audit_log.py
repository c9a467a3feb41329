"""The audit log of a query server: what was asked, what came of it, and proof that it is whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tacit.core.errors import DataError, ParameterError
from tacit.query._audit_store import FileStore, MemoryStore, Store
from tacit.query._audit_verify import (
    Keys,
    LogCheck,
    Problem,
    canonical,
    check_lines,
    parse,
    render,
)

START = "0" * 64
"""What the first entry names as the hash of its predecessor."""

BEGUN = "begun"
"""Kind of an entry for a request that is being read; its outcome follows in one of its own."""

Identities = Literal["none", "pseudonym", "plain"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log."""

    number: int
    """Its place in the log, from 0."""
    at: str
    """When it was written, UTC."""
    kind: str
    """``open``, ``begun``, ``ask``, ``recovered``, or what the server calls it."""
    user: str | None
    """Who asked: nobody, a keyed pseudonym, or the name, as configured."""
    request: Mapping[str, Any] | None
    """The request as plain data, enough to ask it again."""
    outcome: Mapping[str, Any] = field(default_factory=dict)
    """What was answered or refused, and why."""


def digest(plain: Any) -> str:
    """Return the fingerprint of plain data, equal for equal data whatever the order of its keys.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical(plain)).hexdigest()


class AuditLog:
    """An append-only log whose entries are chained by their hashes and sealed with a key.

    Each line holds the hash of the line before it, its own hash, and a seal that only the holder of
    the key can make. A checkpoint kept beside the log names the last entry, so that lines missing
    at the end are found too. Nothing is ever rewritten; a line half written when the machine
    stopped is moved aside and the next entry says so.

    Parameters
    ----------
    path
        File of the log, one JSON object a line; kept in memory if None.
    key
        Secret bytes, at least 16. Seals and pseudonyms are made from it.
    identities
        What is kept of the user: ``none``, a keyed ``pseudonym`` (the same user has the same, and
        nobody without the key can tell who) or ``plain``.
    durable
        Wait for the disk at every entry. Without it a power cut may lose the last entries, and
        `verify` may then call them truncated.
    clock
        Gives the time; for tests.

    Notes
    -----
    With the entries e(0), e(1), ... in canonical JSON, h(n) = SHA-256(e(n)), where e(n) contains
    h(n-1), and the seal is HMAC-SHA-256(key, h(n)).
    Whoever holds the key can rewrite the log; whoever holds a copy of an old log *and* its
    checkpoint can put both back. Against that, hand `anchor` to somebody else from time to time
    and give it to `verify`.

    Examples
    --------
    >>> log = AuditLog(None, key=b"sixteen bytes or more")
    >>> _ = log.append({"analysis": "crosstab"}, {"status": "answered"}, user="ana")
    >>> log.verify().ok
    True
    >>> next(log.requests()).request
    {'analysis': 'crosstab'}
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        key: bytes,
        identities: Identities = "pseudonym",
        durable: bool = True,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if identities not in ("none", "pseudonym", "plain"):
            raise ParameterError(
                "identities in the audit log are none, pseudonym or plain", got=repr(identities)
            )
        self.identities = identities
        self._keys = Keys.of(key)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._store: Store = (
            MemoryStore() if path is None else FileStore(Path(path), durable=durable)
        )
        self._next, self._hash, self._offset = 0, START, 0
        with self._store.locked():
            self._open()

    # -- writing --------------------------------------------------------------------------------

    def append(
        self,
        request: Mapping[str, Any] | None,
        outcome: Mapping[str, Any],
        *,
        user: str | None = None,
        kind: str = "ask",
    ) -> Entry:
        """Write one entry and return it; when this returns, it is on disk and sealed."""
        with self._store.locked():
            self._catch_up()
            return self._write(kind, self._known_as(user), request, outcome)

    def _write(
        self, kind: str, user: str | None, request: Mapping[str, Any] | None, outcome: Any
    ) -> Entry:
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        body = {
            "n": self._next,
            "previous": self._hash,
            "at": at,
            "kind": kind,
            "user": user,
            "request": request,
            "outcome": outcome,
        }
        line, own = render(body, self._keys)
        self._store.append(line)
        self._next, self._hash, self._offset = self._next + 1, own, self._offset + len(line)
        self._store.set_checkpoint(self.anchor.encode())
        return Entry(body["n"], at, kind, user, request, outcome)

    def _known_as(self, user: str | None) -> str | None:
        if user is None or self.identities == "none":
            return None
        return user if self.identities == "plain" else self._keys.pseudonym(user)

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._store.size() == 0 and self._store.checkpoint() is None:
            self._store.set_checkpoint(self.anchor.encode())
        torn = self._read_on()
        self._refuse_if_shorter_than_checkpoint()
        if torn:
            lost = self._store.cut(self._offset)
            found = {"bytes": len(lost), "sha256": hashlib.sha256(lost).hexdigest()}
            self._write("recovered", None, None, {"torn line": found})
        if self._next == 0:
            self._write("open", None, None, {"format": 1, "identities": self.identities})
        self._store.set_checkpoint(self.anchor.encode())

    def _read_on(self) -> bool:
        """Follow the chain to its end; return whether a torn line lies beyond it."""
        for line in self._store.lines(self._offset):
            if not line.endswith(b"\n"):
                return True
            body, own, fault = parse(line, self._keys)
            if fault or body.get("n") != self._next or body.get("previous") != self._hash:
                raise _broken(f"entry {self._next}: {fault or 'the chain is broken'}")
            self._next, self._hash = self._next + 1, own
            self._offset += len(line)
        return False

    def _refuse_if_shorter_than_checkpoint(self) -> None:
        head = self._keys.open_anchor(self._store.checkpoint())
        if head is None:
            raise _broken("its checkpoint is missing or was not made with this key")
        if head[0] > self._next:
            raise _broken(f"{head[0] - self._next} entries are missing at the end")

    def _catch_up(self) -> None:
        """Take in what another process has written since."""
        size = self._store.size()
        if size < self._offset or (size > self._offset and self._read_on()):
            raise _broken("it was cut or torn while in use")

    # -- reading --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._next

    @property
    def anchor(self) -> str:
        """The sealed name of the last entry, to be kept elsewhere and given to `verify`."""
        return self._keys.anchor(self._next, self._hash)

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, oldest first."""
        for line in self._store.lines():
            body, _, fault = parse(line, self._keys)
            if fault:
                raise _broken(fault)
            kept = {k: v for k, v in body.items() if k not in ("n", "previous")}
            yield Entry(number=body["n"], **kept)

    def requests(self) -> Iterator[Entry]:
        """Yield the requests and what became of each, oldest first, to ask them again."""
        return (e for e in self.entries() if e.request is not None and e.kind != BEGUN)

    def replay(self, ask: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> list[Entry]:
        """Ask every request again; return the entries whose outcome is now another.

        Parameters
        ----------
        ask
            Takes a request as plain data, returns the outcome as it would be logged.
        """
        return [
            entry
            for entry in self.requests()
            if digest(ask(entry.request or {})) != digest(entry.outcome)
        ]

    def verify(self, anchor: str | None = None) -> LogCheck:
        """Check every entry, the order, the checkpoint and, if given, an older `anchor`."""
        with self._store.locked():
            return check_lines(self._store.lines(), self._store.checkpoint(), self._keys, anchor)


def verify_log(path: str | Path, *, key: bytes | None, anchor: str | None = None) -> LogCheck:
    """Check the log in a file without opening it for writing.

    Parameters
    ----------
    path
        File of the log; its checkpoint is expected beside it.
    key
        The secret the log was written with. Without it only the chain is checked, which anybody
        who can write the file can also rebuild.
    anchor
        What `AuditLog.anchor` said at some earlier time.
    """
    if not Path(path).is_file():
        raise DataError("there is no audit log to verify", got=path)
    store = FileStore(Path(path))
    keys = None if key is None else Keys.of(key)
    return check_lines(store.lines(), store.checkpoint(), keys, anchor)


def _broken(what: str) -> DataError:
    return DataError(
        f"the audit log is not whole: {what}",
        do="look at verify_log, restore the log from a copy or start a new one elsewhere",
    )


__all__ = ["AuditLog", "Entry", "LogCheck", "Problem", "digest", "verify_log"]
