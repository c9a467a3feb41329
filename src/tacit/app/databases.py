"""Databases whose tables people may take and make: those that the administrator has named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

from tacit.core.errors import NotAllowedError


class Address(NamedTuple):
    """The address of a database in its parts."""

    scheme: str
    user: str
    """Name and password as they are written in the address; empty where there are none."""
    place: str
    """All that comes after them."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Take an address apart.

        Examples
        --------
        >>> Address.of("postgresql://me:secret@host/db")
        Address(scheme='postgresql', user='me:secret', place='host/db')
        """
        scheme, _, rest = url.strip().partition("://")
        host, slash, path = rest.partition("/")
        user, _, host = host.rpartition("@")
        return cls(scheme, user, f"{host}{slash}{path}")

    @property
    def shown(self) -> str:
        """The address without name and password."""
        return f"{self.scheme}://{self.place}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.user}{'@' if self.user else ''}{self.place}"

    def is_within(self, allowed: Address) -> bool:
        """Whether this is a place that the other one names, or one below it."""
        if self.scheme != allowed.scheme or not self.place.startswith(allowed.place):
            return False
        if set(self.user) & set("?#\\"):  # drivers do not agree where such a name ends
            return False
        rest = self.place.removeprefix(allowed.place)
        if rest and not rest.startswith("/") and not allowed.place.endswith("/"):
            return False  # another host whose name only begins the same
        # A query can name another host, and dots another folder.
        return "?" not in rest and "#" not in rest and ".." not in unquote(rest).split("/")


def allowed_address(url: str, databases: Iterable[str], user: str = "", password: str = "") -> str:
    """Return the address to connect to, or refuse one that the administrator has not named.

    Where neither the address nor the person gives a name and password, those of the administrator
    are used; they are shown to nobody.

    Examples
    --------
    >>> allowed_address("postgresql://host/db", ["postgresql://app:secret@host/"])
    'postgresql://app:secret@host/db'
    """
    asked = Address.of(url)
    for allowed in map(Address.of, databases):
        if asked.is_within(allowed):
            typed = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
            return str(asked._replace(user=typed or asked.user or allowed.user))
    raise NotAllowedError(
        "tables of this database may not be chosen",
        do="ask the administrator to name it in the setting databases",
    )
