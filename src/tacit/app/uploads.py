"""Files that people send: streamed to disk, never trusted, read by a worker."""

from __future__ import annotations

import os
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.app.permissions import TooManyError
from tacit.app.store.records import new_id
from tacit.core.errors import ParameterError, ReadError

if TYPE_CHECKING:
    from tacit.app.settings import Settings

_MOST_EXPANSION = 200
"""How many times larger than its file the content of a packed one may be."""
_MOST_UNPACKED = 8 * 2**30


class Places:
    """Places for files that are on their way: whoever finds none is asked to come again."""

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Take a place for as long as the context lasts."""
        if self.taken >= self.most:
            raise TooManyError("too many files are being sent", do="try again in a minute")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def shown_name(name: str) -> str:
    r"""Return the name of a file as it may be shown: no folders, no control characters.

    Examples
    --------
    >>> shown_name("../../etc/passwd.csv"), shown_name("C:\\people.csv")
    ('passwd.csv', 'people.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(c for c in last if c.isprintable()).strip()[:200]
    return clean or "data"


def known_suffix(name: str) -> str:
    """Return the ending of a file of data, or say which are known."""
    from tacit.core.method import methods

    known: list[str] = sorted(
        {s for f in methods("format") for s in getattr(f, "suffixes", ())} - {".asc"}
    )
    lowered = name.lower()
    for suffix in known:
        if lowered.endswith(suffix):
            return suffix
    raise ParameterError(
        "this kind of file cannot be read", got=repr(name), do=f"known: {', '.join(known)}"
    )


def check_announced(settings: Settings, announced: str | None) -> None:
    """Refuse a file that says itself that it is too large, before any of it is taken."""
    if announced is not None and announced.isdecimal():
        _check_size(settings, int(announced))


def _check_size(settings: Settings, size: int) -> None:
    if size > settings.largest_upload:
        raise TooManyError(
            "the file is too large",
            got=f"more than {settings.largest_upload:,} bytes",
            do="ask the administrator, or choose a table of a database",
        )


async def receive(
    settings: Settings, project_folder: Path, name: str, chunks: AsyncIterator[bytes]
) -> Path:
    """Write what arrives to a file of our own naming; nothing is left of one that is too large."""
    suffix = known_suffix(shown_name(name))
    folder = project_folder / "incoming"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / f"{new_id()}{suffix}"
    size = 0
    try:
        with os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                _check_size(settings, size)
                file.write(chunk)
        if not size:
            raise ReadError("the file is empty")
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def check_unpacked_size(path: Path) -> None:
    """Refuse a packed file (Excel, OpenDocument) whose content is out of all proportion."""
    if not zipfile.is_zipfile(path):
        return
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > min(_MOST_UNPACKED, max(_MOST_EXPANSION * packed, 64 * 2**20)):
        raise ReadError(
            "the file unpacks to far more than it may",
            got=f"{unpacked:,} bytes from {packed:,}",
            do="save it again as CSV or Parquet",
        )
