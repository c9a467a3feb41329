"""Where an audit log keeps its lines and its checkpoint: in memory or in two files."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from tacit.core.errors import WriteError


class Store(Protocol):
    """Bytes that only grow, and one small checkpoint that is replaced as a whole."""

    def locked(self) -> AbstractContextManager[None]:
        """Keep other writers out for as long as the context lasts."""

    def size(self) -> int:
        """Return how many bytes are kept."""

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from a byte on, each with its line end if it has one."""

    def append(self, line: bytes) -> None:
        """Add a line at the end, safely on disk before this returns."""

    def cut(self, size: int) -> bytes:
        """Take away and return what lies beyond a size: the torn end left by a crash."""

    def checkpoint(self) -> bytes | None:
        """Return the checkpoint, or None."""

    def set_checkpoint(self, content: bytes) -> None:
        """Replace the checkpoint, whole or not at all."""


class MemoryStore:
    """Lines kept in memory, for a server without a folder and for tests."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.head: bytes | None = None
        self._lock = threading.RLock()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other threads out."""
        with self._lock:
            yield

    def size(self) -> int:
        """Return how many bytes are kept."""
        return len(self.content)

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from a byte on."""
        yield from bytes(self.content[start:]).splitlines(keepends=True)

    def append(self, line: bytes) -> None:
        """Add a line at the end."""
        self.content += line

    def cut(self, size: int) -> bytes:
        """Take away what lies beyond a size."""
        torn = bytes(self.content[size:])
        del self.content[size:]
        return torn

    def checkpoint(self) -> bytes | None:
        """Return the checkpoint, or None."""
        return self.head

    def set_checkpoint(self, content: bytes) -> None:
        """Replace the checkpoint."""
        self.head = content


class FileStore:
    """Lines in a file, the checkpoint beside it in ``<name>.head``, a lock in ``<name>.lock``."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path, self.durable = path, durable
        self._head = path.with_name(path.name + ".head")
        self._guard = path.with_name(path.name + ".lock")
        self._threads = threading.RLock()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other threads and, where the system can, other processes out."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._threads, self._guard.open("ab") as guard:
            _lock(guard.fileno())
            yield

    def size(self) -> int:
        """Return the size of the file, 0 where there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines of the file from a byte on, one at a time."""
        if not self.path.exists():
            return
        with self.path.open("rb") as source:
            source.seek(start)
            yield from source

    def append(self, line: bytes) -> None:
        """Add a line in one write, and wait for the disk."""
        try:
            new = not self.path.exists()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            descriptor = os.open(self.path, flags, 0o600)
            size = os.fstat(descriptor).st_size
            try:
                _write_all(descriptor, line)
                self._settle(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)  # a full disk leaves no half line behind
                raise
            finally:
                os.close(descriptor)
            if new:
                self._settle_folder()
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def cut(self, size: int) -> bytes:
        """Take away what lies beyond a size, keeping it in ``<name>.torn``."""
        torn = b"".join(self.lines(size))
        with self.path.with_name(self.path.name + ".torn").open("ab") as rest:
            rest.write(torn + b"\n")
        os.truncate(self.path, size)
        return torn

    def checkpoint(self) -> bytes | None:
        """Return the checkpoint, or None."""
        return self._head.read_bytes() if self._head.exists() else None

    def set_checkpoint(self, content: bytes) -> None:
        """Replace the checkpoint by renaming a complete new one over it."""
        scratch = self._head.with_name(f".{self._head.name}.{os.getpid()}")
        try:
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                _write_all(descriptor, content)
                self._settle(descriptor)
            finally:
                os.close(descriptor)
            scratch.replace(self._head)
        except OSError as error:
            scratch.unlink(missing_ok=True)
            raise _unwritable(self._head, error) from error

    def _settle(self, descriptor: int) -> None:
        if self.durable:
            os.fsync(descriptor)

    def _settle_folder(self) -> None:
        if not self.durable or os.name == "nt":
            return
        descriptor = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows: threads of one process are kept apart, processes not
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _unwritable(path: Path, error: OSError) -> WriteError:
    return WriteError(
        "the audit log cannot be written, so nothing is answered",
        got=f"{path}: {error.strerror or error}",
        do="free space or mend the rights of the folder, then ask again",
    )
