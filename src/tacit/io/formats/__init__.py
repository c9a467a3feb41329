"""File formats, one file each.

The folder is the catalogue: a file with a format put here can be read and written by its suffix.
"""

from typing import Any

from tacit.core.method import discover

_found = discover(__name__, __path__)
globals().update(_found)
__all__ = sorted(_found)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"tacit.io.formats has no format {name!r}; known: {', '.join(__all__)}")
