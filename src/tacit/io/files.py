"""Files at the edge: which format a name stands for, their bytes, and errors in one line."""

from __future__ import annotations

import gzip
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.core.errors import ReadError, TacitError, WriteError
from tacit.core.families import Format
from tacit.core.frame import collect
from tacit.core.method import find, methods

if TYPE_CHECKING:
    from tacit.core.data import Microdata

GZIP = ".gz"
Buffer = bytes | mmap.mmap
"""Bytes of a file: in memory, or mapped from the disk."""


def is_url(source: object) -> bool:
    """Whether `source` names something by URL, as databases are named."""
    return isinstance(source, str) and "://" in source


def suffix_of(path: Path) -> str:
    """Return the ending that names the format, without the ``.gz`` of a compressed file.

    Examples
    --------
    >>> suffix_of(Path("survey.CSV.gz"))
    '.csv'
    """
    plain = path.with_suffix("") if path.suffix.lower() == GZIP else path
    return plain.suffix.lower()


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.suffix.lower() == GZIP


def format_of(path: Path, key: str | None, error: type[TacitError]) -> type[Format]:
    """Return the format of a file by key or, without one, by the ending of its name."""
    formats = [f for f in methods("format") if issubclass(f, Format)]
    if key is not None:
        chosen = find(key, "format")
        return next(f for f in formats if f is chosen)
    suffix = suffix_of(path)
    for candidate in formats:
        if suffix in candidate.suffixes:
            return candidate
    known = ", ".join(sorted(s for f in formats for s in f.suffixes))
    raise error(
        f"the ending of {path.name!r} names no format tacit knows",
        got=suffix or "no ending",
        do=f"say which with format=, for example format='csv'; known endings: {known}",
    )


def check_readable(path: Path) -> None:
    """Raise `ReadError` unless `path` is a file with something in it."""
    if path.is_dir():
        raise ReadError("this is a folder, not a file", got=str(path))
    if not path.is_file():
        raise ReadError("there is no such file", got=str(path))
    if path.stat().st_size == 0:
        raise ReadError(f"the file is empty: {path}")


def file_bytes(path: Path) -> Buffer:
    """Return the bytes of a file, unpacked if its name ends in ``.gz``, mapped otherwise."""
    if is_gzip(path):
        try:
            with gzip.open(path) as unpacked:
                content = unpacked.read()
        except (gzip.BadGzipFile, EOFError) as error:
            raise ReadError(f"the file is not whole gzip data: {path}") from error
        if not content:
            raise ReadError(f"the file is empty: {path}")
        return content
    with path.open("rb") as handle:
        return mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)


def records(data: Microdata) -> Any:
    """Return the columns a user may see, without tacit's own, as a Polars frame in memory."""
    return collect(data.lazy.select(data.columns))


@contextmanager
def reading(path: Path, title: str) -> Iterator[None]:
    """Turn whatever a library raises while it reads `path` into one line."""
    try:
        yield
    except (TacitError, MemoryError):
        raise
    except OSError as error:
        raise ReadError(f"could not read {path}: {error.strerror or first_line(error)}") from error
    except BaseException as error:
        if not is_failure(error):
            raise
        raise ReadError(
            f"{path.name} cannot be read as {title}: {first_line(error)}",
            do="check that the file is whole, or say what it is with format=",
        ) from error


@contextmanager
def writing(path: Path, title: str) -> Iterator[None]:
    """Turn whatever a library raises while it writes `path` into one line."""
    try:
        yield
    except (TacitError, MemoryError):
        raise
    except OSError as error:
        raise WriteError(
            f"could not write {path.name}: {error.strerror or first_line(error)}"
        ) from error
    except BaseException as error:
        if not is_failure(error):
            raise
        raise WriteError(
            f"{path.name} cannot be written as {title}: {first_line(error)}"
        ) from error


def is_failure(error: BaseException) -> bool:
    """Whether a library failed; an interrupt is none, a panic of compiled code is one."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its name."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
