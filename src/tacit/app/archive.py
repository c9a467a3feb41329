"""One file that holds many, and proves that it does: sizes and SHA-256 of each in a manifest."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tacit.core.errors import ReadError

MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 512 * 2**20
_BLOCK = 1 << 20
_NAME = re.compile(r"(store/[a-z_]{1,60}\.jsonl)|(projects/[0-9a-f]{32}(/[^/\\]{1,255}){1,20})")
_BROKEN = (OSError, EOFError, LookupError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)
"""What Python's own reader raises on files that are damaged or made to deceive."""
_PACKED_ALREADY = (".parquet", ".xlsx", ".gz", ".png", ".zip")


def is_acceptable(name: str) -> bool:
    """Whether an entry of an archive stays where entries belong.

    Examples
    --------
    >>> is_acceptable("store/project.jsonl"), is_acceptable("projects/../../evil")
    (True, False)
    """
    parts = name.split("/")
    return (
        bool(_NAME.fullmatch(name))
        and name.isprintable()
        and not any(part in ("", ".", "..") for part in parts)
    )


class Writer:
    """Writes an archive; the manifest comes last."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        path.touch(mode=0o600)
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4)
        self._about = about
        self.files: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        if kind is None:
            content = json.dumps({**self._about, "files": self.files}, indent=1)
            self._zip.writestr(MANIFEST, content)
        self._zip.close()

    def add(self, name: str, blocks: Iterable[bytes]) -> None:
        """Add a file, block by block."""
        if not is_acceptable(name):
            raise ReadError("this name has no place in a backup", got=repr(name))
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (stat.S_IFREG | 0o600) << 16
        packed = name.endswith(_PACKED_ALREADY)
        entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        digest, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                digest.update(block)
                size += len(block)
        self.files[name] = {"size": size, "sha256": digest.hexdigest()}


class Reader:
    """Reads an archive and trusts nothing in it."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise ReadError("this is not a backup", got=str(path)) from error
        try:
            self.about = self._manifest()
            self.files: dict[str, dict[str, Any]] = self.about["files"]
            self._check_entries()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._zip.close()

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file; it is refused at the end unless it is what was saved."""
        promised, digest, size = self.files[name], hashlib.sha256(), 0
        with self._opened(name) as source:
            while block := _read(source, name):
                size += len(block)
                if size > promised["size"]:
                    raise _damaged(name)
                digest.update(block)
                yield block
        if size != promised["size"] or digest.hexdigest() != promised["sha256"]:
            raise _damaged(name)

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file."""
        rest = b""
        for block in self.blocks(name):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
        if rest:
            yield rest

    def extract(self, name: str, target: Path) -> None:
        """Write a file of the archive to a new file."""
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with target.open("xb") as file:
            for block in self.blocks(name):
                file.write(block)
        target.chmod(0o600)

    def _opened(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(name)
        except _BROKEN:
            raise _damaged(name) from None

    def _manifest(self) -> dict[str, Any]:
        try:
            with self._zip.open(MANIFEST) as file:
                found = json.loads(file.read(_LARGEST_MANIFEST))
            sizes = [(str(f["sha256"]), int(f["size"])) for f in found["files"].values()]
        except (*_BROKEN, TypeError, AttributeError) as error:
            raise ReadError("this is not a backup", do="it has no manifest") from error
        if any(size < 0 for _, size in sizes):
            raise ReadError("this is not a backup", do="its manifest is wrong")
        return dict(found)

    def _check_entries(self) -> None:
        """Refuse names that lead elsewhere, links, doubles, and entries nobody speaks of."""
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if sorted(names) != sorted([*self.files, MANIFEST]):
            raise ReadError("the backup does not hold what its manifest says")
        for entry in entries:
            if entry.filename == MANIFEST:
                continue
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if not is_acceptable(entry.filename) or kind not in (0, stat.S_IFREG):
                raise ReadError(
                    "the backup holds something that has no place in it",
                    got=repr(entry.filename[:100]),
                )
            if entry.file_size != self.files[entry.filename]["size"]:
                raise _damaged(entry.filename)


def _read(source: IO[bytes], name: str) -> bytes:
    try:
        return source.read(_BLOCK)
    except _BROKEN:
        raise _damaged(name) from None


def _damaged(name: str) -> ReadError:
    return ReadError("the backup is damaged", got=name, do="nothing was restored; use another")
