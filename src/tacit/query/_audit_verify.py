"""How lines of an audit log are written, sealed and checked."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tacit.core.errors import ParameterError


def canonical(plain: Any) -> bytes:
    """Return plain data as the one JSON text it has: sorted keys, no spaces, ASCII."""
    try:
        text = json.dumps(
            plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
        return text.encode("ascii")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "the audit log holds plain data only: text, finite numbers, lists, mappings",
            got=error,
            do="convert arrays, dates and missing numbers first",
        ) from error


@dataclass(frozen=True, slots=True)
class Keys:
    """The two keys of a log, derived from one secret, so that neither use tells on the other."""

    seal: bytes
    names: bytes

    @classmethod
    def of(cls, secret: bytes) -> Keys:
        """Derive the keys, or say why the secret will not do."""
        if not isinstance(secret, bytes | bytearray) or len(secret) < 16:
            raise ParameterError(
                "the key of an audit log is at least 16 secret bytes",
                got=type(secret).__name__,
                do="use secrets.token_bytes(32) and keep it",
            )
        return cls(*(_mac(bytes(secret), f"tacit audit {use}".encode()) for use in ("seal", "who")))

    def sealed(self, own: str) -> str:
        """Return the seal of a hash."""
        return _mac(self.seal, b"entry " + own.encode()).hex()

    def pseudonym(self, user: str) -> str:
        """Return the name under which a user is kept."""
        return "~" + _mac(self.names, user.encode("utf-8", "surrogatepass")).hex()[:24]

    def anchor(self, n_entries: int, last: str) -> str:
        """Return a sealed statement of the length and the last hash of the log."""
        stated = f"{n_entries} {last}"
        return f"{stated} {_mac(self.seal, b'head ' + stated.encode()).hex()}\n"

    def open_anchor(self, text: bytes | str | None) -> tuple[int, str] | None:
        """Return length and last hash of an anchor made with this key, else None."""
        if text is None:
            return None
        parts = (text.decode("ascii", "replace") if isinstance(text, bytes) else text).split()
        if len(parts) != 3 or not parts[0].isdecimal():
            return None
        stated = self.anchor(int(parts[0]), parts[1])
        return (int(parts[0]), parts[1]) if _same(stated.split()[2], parts[2]) else None


def render(body: dict[str, Any], keys: Keys) -> tuple[bytes, str]:
    """Return the line of an entry and its hash."""
    text = canonical(json.loads(canonical(body)))  # as it will be read: keys are text
    own = hashlib.sha256(text).hexdigest()
    end = f',"hash":"{own}","seal":"{keys.sealed(own)}"}}\n'
    return b'{"entry":' + text + end.encode(), own


def parse(line: bytes, keys: Keys | None) -> tuple[dict[str, Any], str, str]:
    """Return the entry of a line, the hash it states, and what is wrong with it, if anything."""
    try:
        found = json.loads(line)
        body, own, seal = found["entry"], found["hash"], found["seal"]
        text = canonical(body)
        numbered = type(body["n"]) is int and isinstance(body["previous"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, "", "is not a line of this log"
    if not numbered or not isinstance(own, str) or not isinstance(seal, str):
        return {}, "", "is not a line of this log"
    exact = b'{"entry":' + text + f',"hash":"{own}","seal":"{seal}"}}\n'.encode()
    if exact != line or hashlib.sha256(text).hexdigest() != own:
        return body, own, "was edited"
    if keys is not None and not _same(keys.sealed(own), seal):
        return body, own, "was not sealed with this key"
    return body, own, ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a log, and where."""

    kind: str
    """``edited``, ``forged``, ``dropped``, ``reordered``, ``repeated``, ``spliced``,
    ``truncated``, ``torn``, ``checkpoint`` or ``anchor``."""
    line: int
    """Line of the file, from 1; 0 for the checkpoint."""
    what: str
    """In words."""


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What checking a log found."""

    n_entries: int
    """Lines read."""
    problems: tuple[Problem, ...]
    """Everything that is wrong, in order of the lines."""
    keyed: bool
    """Whether seals and checkpoint were checked with the key."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; without the key, only that the chain is whole."""
        return not self.problems

    def __str__(self) -> str:
        """Return the findings, a line each."""
        scope = "" if self.keyed else " (chain only: no key was given)"
        if self.ok:
            return f"{self.n_entries} entries, whole{scope}"
        lines = [f"line {p.line}: {p.kind}: {p.what}" for p in self.problems]
        found = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
        return "\n".join([f"{self.n_entries} entries, {found}{scope}", *lines])


class _Checker:
    """Walks over a log once, line by line, and remembers only numbers and the last hash."""

    def __init__(self, keys: Keys | None, watched: set[int]) -> None:
        self.keys, self.problems = keys, list[Problem]()
        self.numbers, self.places = list[int](), list[int]()
        self.last_number, self.last_hash = -1, "0" * 64
        self.watched, self.hashes = watched, dict[int, str]()
        self.n_lines = 0

    def note(self, kind: str, what: str, line: int | None = None) -> None:
        self.problems.append(Problem(kind, self.n_lines if line is None else line, what))

    def take(self, line: bytes) -> None:
        self.n_lines += 1
        if not line.endswith(b"\n"):
            self.note("torn", "the line is incomplete: the writer stopped, or it was cut")
            return
        body, own, fault = parse(line, self.keys)
        if fault:
            self.note("forged" if "sealed" in fault else "edited", f"the entry {fault}")
        if not body:
            self.last_hash, self.last_number = "", self.last_number + 1
            self.numbers.append(self.last_number)
            self.places.append(self.n_lines)
            return
        self._place(body, own, bool(fault))

    def _place(self, body: dict[str, Any], own: str, faulty: bool) -> None:
        number = self.last_number + 1 if faulty else body["n"]
        follows = number == self.last_number + 1 and not faulty
        if follows and self.last_hash and body["previous"] != self.last_hash:
            self.note("spliced", f"entry {number} does not continue the entry before it")
        self.numbers.append(number)
        self.places.append(self.n_lines)
        self.last_number, self.last_hash = number, own
        if number + 1 in self.watched:
            self.hashes[number + 1] = own

    def order(self) -> None:
        """Name the entries that are missing, doubled or out of place."""
        seen = Counter(self.numbers)
        highest = -1
        for number, place in zip(self.numbers, self.places, strict=True):
            between = (n for n in range(highest + 1, number) if n not in seen)
            gap = list(islice(between, _MOST_NAMED))
            if gap:
                named = ", ".join(map(str, gap))
                self.note("dropped", f"entries missing before this line: {named}", place)
            if number <= highest:
                doubled = seen[number] > 1
                kind = "repeated" if doubled else "reordered"
                self.note(kind, f"entry {number} stands after entry {highest}", place)
            highest = max(highest, number)


_MOST_NAMED = 20


def check_lines(
    lines: Iterable[bytes], checkpoint: bytes | None, keys: Keys | None, anchor: str | None
) -> LogCheck:
    """Check a log; see `AuditLog.verify`."""
    head = keys.open_anchor(checkpoint) if keys else None
    older = keys.open_anchor(anchor) if keys and anchor is not None else None
    checker = _Checker(keys, {at[0] for at in (head, older) if at})
    for line in lines:
        checker.take(line)
    checker.order()
    if keys is not None:
        _check_head(checker, head, "checkpoint", "truncated")
    if anchor is not None:
        _check_head(checker, older, "anchor", "truncated")
    found = sorted(checker.problems, key=lambda problem: problem.line)
    return LogCheck(checker.n_lines, tuple(found), keys is not None)


def _check_head(checker: _Checker, head: tuple[int, str] | None, kind: str, missing: str) -> None:
    if head is None:
        checker.note(kind, f"the {kind} is missing or was not made with this key", 0)
        return
    n_entries, last = head
    held = max(checker.numbers, default=-1) + 1
    if n_entries > held:
        lost = n_entries - held
        checker.note(missing, f"{lost} of {n_entries} entries are missing at the end")
    elif checker.hashes.get(n_entries) != last:
        checker.note(kind, f"entry {n_entries - 1} is not the one the {kind} names", 0)


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
