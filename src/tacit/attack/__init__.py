"""Attacks: what an intruder would learn, found out before anybody else does.

The folders ``microdata``, ``tables`` and ``queries`` are the catalogue: a file with an attack put
there is run by `audit`, and appears in the command line and in the docs.
"""

from __future__ import annotations

from typing import Any

from tacit.attack import microdata, queries, tables
from tacit.attack.auditing import AttackReport as AttackReport
from tacit.attack.auditing import audit as audit
from tacit.attack.family import Attack as Attack
from tacit.attack.finding import Finding as Finding
from tacit.attack.finding import Rate as Rate
from tacit.attack.finding import Verdict as Verdict
from tacit.attack.knowledge import Knowledge as Knowledge
from tacit.attack.target import MicrodataTarget as MicrodataTarget
from tacit.attack.target import QueryTarget as QueryTarget
from tacit.attack.target import ServerTarget as ServerTarget
from tacit.attack.target import TableTarget as TableTarget
from tacit.core.method import discover

_found = {
    name: method
    for folder in (microdata, tables, queries)
    for name, method in discover(folder.__name__, folder.__path__).items()
}
globals().update(_found)
_HERE = (
    *("Attack", "AttackReport", "Finding", "Knowledge", "MicrodataTarget", "QueryTarget", "Rate"),
    *("ServerTarget", "TableTarget", "Verdict", "audit"),
)
__all__ = sorted({*_found, *_HERE})


def __getattr__(name: str) -> Any:
    raise AttributeError(f"tacit.attack has no {name!r}; known: {', '.join(__all__)}")
