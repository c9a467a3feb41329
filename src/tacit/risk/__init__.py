"""Risk measures, one file each.

The folder is the catalogue: a file with a method put here appears in the library, the command line
and the docs.
"""

from typing import Any

from tacit.core.method import discover
from tacit.risk.identification import identification_probability as identification_probability

_found = discover(__name__, __path__)
globals().update(_found)
__all__ = sorted([*_found, "identification_probability"])


def __getattr__(name: str) -> Any:
    raise AttributeError(f"tacit.risk has no method {name!r}; known: {', '.join(__all__)}")
