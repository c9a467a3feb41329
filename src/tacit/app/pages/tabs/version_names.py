"""The name that a form proposes for the next version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.app.naming import folded

_WORDS = {"masked": "version", "table": "table", "log": "log"}


def free_name(versions: Iterable[dict[str, Any]], kind: str) -> str:
    """Return the first numbered name that no version of this kind has.

    Examples
    --------
    >>> free_name([{"kind": "masked", "name": "Version 1"}], "masked")
    'version 2'
    """
    taken = {folded(v["name"]) for v in versions if v["kind"] == kind}
    number = 1
    while f"{_WORDS[kind]} {number}" in taken:
        number += 1
    return f"{_WORDS[kind]} {number}"
