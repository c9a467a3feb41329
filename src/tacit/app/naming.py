"""Names of projects and versions: unique whatever their case, with a free one proposed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from tacit.app.permissions import ConflictError
from tacit.core.errors import ParameterError


def folded(name: str) -> str:
    """Return what two names that look alike have in common.

    Examples
    --------
    >>> folded("Census  2026 ") == folded("census 2026")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def checked(name: str, what: str) -> str:
    """Return the name without needless blanks, or say what is wrong with it."""
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise ParameterError(
            f"the name of a {what} has 1 to 100 printable characters", got=repr(name[:120])
        )
    return name


def require_free(name: str, taken: Iterable[str], what: str) -> None:
    """Refuse a name that is taken, and propose one that is not.

    Examples
    --------
    >>> require_free("Census", ["census", "census 2"], "project")
    Traceback (most recent call last):
    tacit.core.errors.ConflictError: a project of this name is there already \
(got 'Census'); choose another, such as 'Census 3'
    """
    known = set(taken)
    if folded(name) not in known:
        return
    number = 2
    while folded(f"{name} {number}") in known:
        number += 1
    raise ConflictError(
        f"a {what} of this name is there already",
        got=repr(name),
        do=f"choose another, such as '{name} {number}'",
    )
