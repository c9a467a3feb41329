"""What the metadata of records say that only tables need: holdings, and who asks for protection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError
from tacit.io.formats.argus import Argus

_CODES = {"1", "2"}


def record_roles(path: str | Path, **reading: Any) -> dict[str, str | None]:
    """Return the columns that the metadata of a file of tau-ARGUS call holding and request.

    Parameters
    ----------
    path
        The ``.asc`` file.
    reading
        How it is read, as `tacit.read` takes it.

    Raises
    ------
    ReadError
        If those who ask for protection have other codes than 1 and 2.
    """
    described = Argus(**reading).described(Path(path))
    found = {
        tag: next((item for item in described.items if tag in item.tags), None)
        for tag in ("HOLDING", "REQUEST")
    }
    asks = found["REQUEST"]
    other = set(asks.tags["REQUEST"]) - _CODES if asks else set()
    if asks and other:
        raise ReadError(
            f"{described.path.name} has codes of those who ask for protection that are not 1 and 2",
            got=f"{', '.join(sorted(other))} of {asks.name!r}",
            do="recode them, or leave them out with --request none",
        )
    return {tag.lower(): None if item is None else item.name for tag, item in found.items()}
