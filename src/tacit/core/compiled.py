"""Compilation of kernels, kept between runs and found again only where nothing has changed.

Numba keeps compiled kernels in files. Three things are put right here before it does; kernels take
`njit` from this module, and so always pass here first.

*Names.* Numba names the functions inside by a counter that starts at 1 in every process. The
helpers behind ``np.sort`` and ``np.argsort`` have the same name otherwise, so that two kernels
compiled by different processes may hold different functions of one name; a third process that loads
both runs the wrong one and crashes (numba issue 10486). Here the counter starts at a random number.

*Changes.* A kernel that calls another holds a copy of it, but numba looks only at the kernel's own
file: after an upgrade it would go on with the old copy. Here the files that a kernel imports count.

*Place.* Files are kept in the user's cache folder (``NUMBA_CACHE_DIR`` where it is set) by what
they were made from, so that every environment and checkout of one version shares them.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import secrets
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from numba import config, njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CacheImpl, _CacheLocator
from numba.misc.appdirs import AppDirs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

__all__ = ["njit"]

_SOURCES = Path(__file__).resolve().parents[2]
_IMPORTED = re.compile(r"^from (tacit[\w.]*) import", re.MULTILINE)


@cache
def contents(path: Path) -> frozenset[bytes]:
    """Return the digests of a kernel's file and of every file of tacit that it imports."""
    text = path.read_text(encoding="utf-8")
    found = {hashlib.sha256(text.encode()).digest()}
    for module in _IMPORTED.findall(text):
        imported = _SOURCES.joinpath(*module.split(".")).with_suffix(".py")
        if imported.exists():
            found |= contents(imported)
    return frozenset(found)


class _ByContents(_CacheLocator):
    """Compiled kernels of tacit, by the contents of what they were compiled from."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno
        joined = b"".join(sorted(contents(Path(py_file))))
        self._stamp = hashlib.sha256(joined).hexdigest()

    def get_cache_path(self) -> str:
        folders = AppDirs(appname="tacit", appauthor=False)  # type: ignore[no-untyped-call]
        home = config.CACHE_DIR or folders.user_cache_dir  # type: ignore[attr-defined]
        return str(Path(home) / "kernels" / f"{Path(self._py_file).stem}-{self._stamp[:16]}")

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self | None:
        """Answer for files of tacit, unless nothing can be kept there."""
        if not Path(py_file).resolve().is_relative_to(_SOURCES / "tacit"):
            return None
        try:
            found = cls(py_func, py_file)
            found.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return found


FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))
CacheImpl._locator_classes.insert(0, _ByContents)
