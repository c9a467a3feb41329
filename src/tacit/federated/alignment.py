"""Which units agencies have in common: private set intersection by keyed tags."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tacit.core.errors import DataError, ParameterError
from tacit.federated import masks
from tacit.federated.stopped import RefusedError

TAG_BYTES = 16
"""Bytes of a tag."""


@dataclass
class Aligner:
    """One agency's part in finding common units.

    The agencies agree on a key that the coordinator lacks: each draws a part and sends it sealed to
    the others. Identifiers become tags under the key; the coordinator compares tags, and learns how
    many units there are and how many are common, not which. Nobody learns about units that it does
    not have itself. An agency that colludes with the coordinator could try out identifiers.
    """

    identifiers: Sequence[str] = field(repr=False)
    private: bytes = field(default_factory=masks.new_key, repr=False)
    part: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _key: bytes = field(default=b"", repr=False)
    _tags: np.ndarray | None = field(default=None, repr=False)

    @property
    def public(self) -> bytes:
        """The key by which others seal their parts."""
        return masks.public_key(self.private)

    def seal(self, other: bytes) -> bytes:
        """Return the own part, for the owner of a public key alone."""
        nonce = secrets.token_bytes(12)
        return nonce + self._box(other).encrypt(nonce, self.part, None)

    def agree(self, sealed: Mapping[bytes, bytes]) -> None:
        """Make the common key from the parts of all others, given by their public keys."""
        parts = {
            other: self._box(other).decrypt(text[:12], text[12:], None)
            for other, text in sealed.items()
        }
        parts[self.public] = self.part
        self.take([parts[public] for public in sorted(parts)])

    def take(self, parts: Sequence[bytes]) -> None:
        """Make the common key from the parts of all agencies, in an order that all share."""
        self._key = masks.derive(b"".join(parts), b"tacit alignment")

    def tags(self) -> np.ndarray:
        """Return the tags of the own units in rising order, which tells nothing about theirs."""
        if not self._key:
            raise ParameterError("the agencies must agree on a key first")
        if self._tags is None:
            # A hash of the library per unit: no vectorised keyed hash is worth trusting.
            joined = b"".join(self._tag(text) for text in self.identifiers)
            self._tags = np.frombuffer(joined, dtype=f"S{TAG_BYTES}")
            if len(np.unique(self._tags)) != len(self._tags):
                raise DataError(
                    "a unit appears twice", do="keep one record of each unit before aligning"
                )
        return np.sort(self._tags)

    def rows(self, common: np.ndarray) -> np.ndarray:
        """Return the own records of the common units, in the order that all agencies share."""
        self.tags()
        if self._tags is None:
            raise ParameterError("there are no tags yet")
        order = np.argsort(self._tags)
        place = np.searchsorted(self._tags, common, sorter=order)
        rows: np.ndarray = order[np.minimum(place, len(order) - 1)]
        if len(common) and not np.array_equal(self._tags[rows], common):
            raise RefusedError("the coordinator names units that this agency does not have")
        return rows

    def _tag(self, text: str) -> bytes:
        plain = unicodedata.normalize("NFC", str(text)).strip().encode()
        return hashlib.blake2b(plain, key=self._key, digest_size=TAG_BYTES).digest()

    def _box(self, other: bytes) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(masks.agree(self.private, other, b"tacit alignment"))


def intersect(tags: Sequence[np.ndarray], *, at_least: int = 1) -> np.ndarray:
    """Return the tags that all agencies sent, as the coordinator does it."""
    common = tags[0]
    for other in tags[1:]:
        common = np.intersect1d(common, other, assume_unique=True)
    if len(common) < at_least:
        raise RefusedError(f"fewer than {at_least} units are common to all agencies")
    return np.sort(common)


def align(identifiers: Sequence[Sequence[str]], *, at_least: int = 1) -> list[np.ndarray]:
    """Return for each agency the records of common units, in one order.

    Examples
    --------
    >>> rows = align([["ann", "bob", "eve"], ["eve", "ann"]])
    >>> sorted((int(a), int(b)) for a, b in zip(*rows))
    [(0, 1), (2, 0)]
    """
    if len(identifiers) < 2:
        raise ParameterError("at least two agencies have units in common", got=len(identifiers))
    members = [Aligner(own) for own in identifiers]
    for one in members:
        one.agree({other.public: other.seal(one.public) for other in members if other is not one})
    common = intersect([one.tags() for one in members], at_least=at_least)
    return [one.rows(common) for one in members]
