"""Documents of the dossier, one file each."""

from tacit.core.method import discover

_found = discover(__name__, __path__)
globals().update(_found)
__all__ = sorted(_found)
