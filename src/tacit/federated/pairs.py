"""What one agency says to another through the coordinator, who cannot read or change it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tacit.federated import masks
from tacit.federated.identity import Identity, Roster
from tacit.federated.messages import Proposal, Public
from tacit.federated.stopped import RefusedError

_NONCE = 12
EXTRA_BYTES = _NONCE + 16
"""How much longer a sealed text is."""


@dataclass
class Pairs:
    """An agency's channels to each other agency of one computation.

    Keys are drawn for the computation and signed, so that the coordinator cannot put itself in
    between; a text is bound to computation, sender, receiver and what it is about.
    """

    proposal: Proposal
    identity: Identity
    roster: Roster
    private: bytes = field(default_factory=masks.new_key, repr=False)
    _keys: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Name of the agency."""
        return self.identity.name

    @property
    def partners(self) -> list[str]:
        """The other agencies, in order."""
        return sorted(set(self.proposal.participants) - {self.name})

    def public(self) -> Public:
        """Return the signed public key."""
        key = masks.public_key(self.private)
        signature = self.identity.sign(self._signed(self.name, key))
        return Public(key=key.hex(), signature=signature.hex())

    def meet(self, keys: Mapping[str, Public]) -> None:
        """Take everyone's keys, or refuse those that are not theirs."""
        if set(keys) != set(self.proposal.participants):
            raise RefusedError("all agencies are needed here, and nobody else")
        for name, given in keys.items():
            text = self._signed(name, bytes.fromhex(given.key))
            self.roster.check(name, text, bytes.fromhex(given.signature))
        if bytes.fromhex(keys[self.name].key) != masks.public_key(self.private):
            raise RefusedError("the coordinator hands out another key than this agency's own")
        self._keys = {name: bytes.fromhex(given.key) for name, given in keys.items()}

    def seal(self, name: str, about: bytes, text: bytes) -> bytes:
        """Return a text that only one partner can open."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._box(name).encrypt(nonce, text, _bound(self.name, name, about))

    def open(self, name: str, about: bytes, sealed: bytes) -> bytes:
        """Return the text of a partner, or refuse one that was changed or is about other things."""
        nonce, rest = sealed[:_NONCE], sealed[_NONCE:]
        try:
            return self._box(name).decrypt(nonce, rest, _bound(name, self.name, about))
        except (InvalidTag, ValueError) as error:
            raise RefusedError(
                f"what {name} sent was changed on the way, or is about other units"
            ) from error

    def _box(self, name: str) -> ChaCha20Poly1305:
        if name not in self._keys or name == self.name:
            raise RefusedError("keys come first")
        purpose = b"tacit pair" + self.proposal.digest()
        return ChaCha20Poly1305(masks.agree(self.private, self._keys[name], purpose))

    def _signed(self, name: str, key: bytes) -> bytes:
        return b"tacit pair key" + self.proposal.digest() + name.encode() + b"\0" + key


def _bound(sender: str, receiver: str, about: bytes) -> bytes:
    return f"{sender}>{receiver}:".encode() + about
