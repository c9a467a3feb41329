"""Who an agency is: a signing key of its own, and the public keys of its partners."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tacit.core.errors import ParameterError, ReadError
from tacit.federated.stopped import RefusedError

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def check_name(name: str) -> str:
    """Return the name of an agency, which is also its name in certificates.

    Examples
    --------
    >>> check_name("hospital-a")
    'hospital-a'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            "a name of an agency is lower-case letters, digits and hyphens, at most 63",
            got=repr(name)[:80],
        )
    return name


@dataclass(frozen=True)
class Identity:
    """A name and the private key that proves it (Ed25519)."""

    name: str
    private: bytes

    @classmethod
    def new(cls, name: str) -> Identity:
        """Draw a key for a name."""
        return cls(check_name(name), Ed25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> bytes:
        """The key by which partners check signatures."""
        key = Ed25519PrivateKey.from_private_bytes(self.private)
        return key.public_key().public_bytes_raw()

    def sign(self, text: bytes) -> bytes:
        """Sign a text."""
        return Ed25519PrivateKey.from_private_bytes(self.private).sign(text)

    def __repr__(self) -> str:
        return f"Identity({self.name!r})"


@dataclass(frozen=True)
class Roster:
    """The public keys of all partners, agreed before the first computation."""

    keys: Mapping[str, bytes]

    @classmethod
    def of(cls, identities: Iterable[Identity]) -> Roster:
        """Gather the public keys of some agencies."""
        return cls({one.name: one.public for one in identities})

    @classmethod
    def read(cls, path: Path) -> Roster:
        """Read a roster file: names and public keys in JSON."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            keys = {check_name(name): bytes.fromhex(key) for name, key in found.items()}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise ReadError(
                "the roster could not be read", got=str(path), do="make one with tacit certificates"
            ) from error
        return cls(keys)

    def save(self, path: Path) -> None:
        """Write a roster file."""
        text = json.dumps({name: key.hex() for name, key in self.keys.items()}, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def check(self, name: str, text: bytes, signature: bytes) -> None:
        """Refuse a text that the named agency did not sign."""
        if name not in self.keys:
            raise RefusedError(f"{name} is not in the roster")
        try:
            Ed25519PublicKey.from_public_bytes(self.keys[name]).verify(signature, text)
        except (InvalidSignature, ValueError) as error:
            raise RefusedError(f"the signature of {name} is false") from error
