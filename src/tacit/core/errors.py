"""Every error tacit raises on purpose.

The tree::

    TacitError                  one line for the user, exit code 2 in the command line
    ├── ParameterError          a method's parameter has a bad value, is missing or misspelt
    │   └── UnknownMethodError  no method, measure or format of that name
    ├── SchemaError             roles, kinds, hierarchies or constraints do not fit the data
    │   └── UnknownColumnError  no column of that name
    ├── DataError               the data cannot be used for what was asked
    │   └── ReadError           a file or table could not be read
    ├── ProtectionError         a guarantee cannot be met, so nothing is released
    ├── PlanError               a plan file is malformed
    ├── WriteError              the output could not be written; nothing partial is left
    ├── ReplayError             a dossier does not reproduce its release
    ├── MissingExtraError       an optional dependency is not installed
    └── of the app: NotFoundError, NotAllowedError, NotLoggedInError, ConflictError, TooManyError

Messages say three things: what was wrong, what was given, what to do.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class TacitError(Exception):
    """A problem the user can act on.

    Parameters
    ----------
    what
        What was wrong, as a statement.
    got
        What was given.
    do
        What would mend it.

    Examples
    --------
    >>> print(TacitError("k is larger than the file", got="k = 5, 3 records", do="lower k"))
    k is larger than the file (got k = 5, 3 records); lower k
    """

    def __init__(self, what: str, *, got: object = None, do: str | None = None) -> None:
        self.what, self.got, self.do = what, got, do
        given = "" if got is None else f" (got {got})"
        advice = "" if do is None else f"; {do}"
        super().__init__(f"{what}{given}{advice}")


class ParameterError(TacitError, ValueError):
    """A method's parameter has a bad value, is missing or misspelt."""


class UnknownMethodError(ParameterError):
    """No method, measure or format of that name is registered."""


class SchemaError(TacitError, ValueError):
    """Roles, kinds, hierarchies or constraints do not fit the data."""


class UnknownColumnError(SchemaError):
    """No column of that name; `column` is the name that was asked for."""

    def __init__(
        self, what: str, *, column: str = "", got: object = None, do: str | None = None
    ) -> None:
        self.column = column
        super().__init__(what, got=got, do=do)


class DataError(TacitError, ValueError):
    """The data cannot be used for what was asked."""


class ReadError(DataError):
    """A file or table could not be read."""


class ProtectionError(TacitError):
    """A guarantee cannot be met, so nothing is released."""


class PlanError(TacitError, ValueError):
    """A plan file is malformed."""


class WriteError(TacitError, OSError):
    """The output could not be written; nothing partial is left behind."""

    def __str__(self) -> str:
        return str(self.args[0])


class ReplayError(TacitError):
    """A dossier does not reproduce its release."""


class MissingExtraError(TacitError, ImportError):
    """An optional dependency is not installed."""


class NotFoundError(TacitError):
    """There is no such thing, or it is not for this person: the two look alike."""


class NotAllowedError(TacitError):
    """The person may see the thing, but not do this with it."""


class NotLoggedInError(TacitError):
    """Nobody is known to have asked."""


class ConflictError(TacitError):
    """Somebody else was first."""


class TooManyError(TacitError):
    """Too many attempts; wait."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Advice that names the closest known word, or lists what is known.

    Examples
    --------
    >>> nearest("mdva", ["mdav", "sample"])
    "did you mean 'mdav'?"
    >>> nearest("noise", ["mdav", "sample"])
    'known: mdav, sample'
    """
    names = sorted({str(word) for word in known})
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not close:
        lowered = {n.lower(): n for n in names}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none is known"


def optional(module: str, *, extra: str) -> ModuleType:
    """Import an optional dependency where it is used, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this needs the package {error.name!r}",
            do=f"install it with: pip install 'tacit[{extra}]'",
        ) from error
