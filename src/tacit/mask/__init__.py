"""Masking methods for microdata, one file each.

The folder is the catalogue: a file with a method put here appears in the library, the command line
and the docs.
"""

from typing import Any

from tacit.core.method import discover

_found = discover(__name__, __path__)
globals().update(_found)
__all__ = sorted(_found)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"tacit.mask has no method {name!r}; known: {', '.join(__all__)}")
