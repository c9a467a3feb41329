"""One agency's part in one secure sum that survives losses and collusion."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tacit.federated import masks
from tacit.federated.identity import Identity, Roster
from tacit.federated.integrity import N_TAGS, is_intact, tagged
from tacit.federated.messages import Keys, Masked, Proposal, Shares, Unmask
from tacit.federated.shamir import SHARE_BYTES, split
from tacit.federated.stopped import RefusedError

FEWEST = 3
"""With two agencies each would learn the other's value from the sum (KS)."""


@dataclass
class Summation:
    r"""One agency's secrets and answers in one sum.

    Notes
    -----
    Agency u sends :math:`y_u = v_u + G + B_u + \sum_{w > u} M_{uw} - \sum_{w < u} M_{uw}`, where
    :math:`M_{uw}` is a stream from a seed agreed with w, :math:`B_u` one from a seed of its own and
    G one from a seed that all agencies have and the coordinator has not. The masks M cancel in the
    sum. The seeds of B and the keys of M are shared by Shamir's scheme, so that the masks of
    agencies that are lost can be taken away, and a contribution that arrives late stays hidden
    under B [bonawitz2017]_. G is our addition: the coordinator sees masked values only, even of
    the sum.
    """

    proposal: Proposal
    step: int
    identity: Identity
    roster: Roster
    channel_key: bytes = field(default_factory=masks.new_key, repr=False)
    mask_key: bytes = field(default_factory=masks.new_key, repr=False)
    own_seed: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    common_part: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    keys: dict[str, Keys] = field(default_factory=dict, repr=False)
    inbox: dict[str, bytes] = field(default_factory=dict, repr=False)
    own_shares: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Name of the agency."""
        return self.identity.name

    @property
    def context(self) -> bytes:
        """What binds every key and signature to this sum of this proposal."""
        return self.proposal.digest() + self.step.to_bytes(4, "big")

    def public(self) -> Keys:
        """Return the signed public keys."""
        parts = (
            masks.public_key(self.channel_key),
            masks.public_key(self.mask_key),
            hashlib.sha256(self.own_seed).digest(),
        )
        signature = self.identity.sign(signed_text(self.context, self.name, *parts))
        channel, mask, commitment = (part.hex() for part in parts)
        return Keys(channel=channel, mask=mask, commitment=commitment, signature=signature.hex())

    def share(self, keys: Mapping[str, Keys]) -> Shares:
        """Check everyone's keys and return shares of the own secrets, one sealed for each."""
        self._check_set(keys)
        for name, given in keys.items():
            check_keys(self.roster, self.context, name, given)
        if keys[self.name] != self.public():
            raise RefusedError("the coordinator hands out other keys than this agency's own")
        self.keys = dict(keys)
        sealed = {}
        for name, secret in self._parcels().items():
            if name == self.name:
                self.own_shares = {name: secret}
            else:
                sealed[name] = self._seal(name, secret).hex()
        return Shares(sealed=sealed)

    def _parcels(self) -> dict[str, bytes]:
        """Return for each agency its shares of seed and key, and the part of the common seed."""
        order, t = self.proposal.participants, self.proposal.threshold
        seeds, mask_keys = (split(s, len(order), t) for s in (self.own_seed, self.mask_key))
        parcels = zip(order, seeds, mask_keys, strict=True)
        return {
            name: seed + key + self.common_part for name, seed, key in parcels if name in self.keys
        }

    def mask(self, sealed: Mapping[str, str], values: np.ndarray) -> Masked:
        """Return the contribution under all masks; `sealed` are the others' shares for this one."""
        self._check_set({*sealed, self.name})
        if not set(sealed) <= set(self.keys) - {self.name}:
            raise RefusedError("shares of an agency whose keys were never shown")
        self.inbox = {n: self._open(n, bytes.fromhex(c)) for n, c in sealed.items()}
        self.inbox |= self.own_shares
        encoding = self.proposal.encoding
        encoded = encoding.encode(values, len(self.proposal.participants))
        total = tagged(encoded, self.common_seed())
        shape = (encoding.words, total.shape[1])
        total = encoding.add(total, masks.expand(self.own_seed, *shape))
        total = encoding.add(total, self.common_mask((self.name,), shape[1]))
        for name in sorted(sealed):
            stream = masks.expand(self._pair_seed(name), *shape)
            total = (encoding.add if name > self.name else encoding.subtract)(total, stream)
        return Masked(payload=encoding.pack(total))

    def unmask(self, survivors: tuple[str, ...]) -> Unmask:
        """Return a share of each survivor's seed and of each lost agency's key, never of both."""
        self._check_set(survivors)
        if not set(survivors) <= set(self.inbox):
            raise RefusedError("a contribution of an agency that sent no shares")
        seeds = {n: p[:SHARE_BYTES].hex() for n, p in self.inbox.items() if n in survivors}
        keys = {
            n: p[SHARE_BYTES : 2 * SHARE_BYTES].hex()
            for n, p in self.inbox.items()
            if n not in survivors
        }
        return Unmask(seeds=seeds, keys=keys)

    def reveal(self, survivors: tuple[str, ...], payload: bytes, length: int) -> np.ndarray:
        """Take the common mask off the sum that the coordinator sent."""
        encoding = self.proposal.encoding
        total = encoding.unpack(payload, length + N_TAGS)
        total = encoding.subtract(total, self.common_mask(survivors, length + N_TAGS))
        if not is_intact(total, self.common_seed()):
            raise RefusedError(
                "the sum was changed: by the coordinator, or by a false contribution"
            )
        return encoding.decode(total[:, :-N_TAGS])

    def common_seed(self) -> bytes:
        """Return the seed that all agencies of this sum have and the coordinator has not."""
        parts = b"".join(self.inbox[name][2 * SHARE_BYTES :] for name in sorted(self.inbox))
        names = ",".join(sorted(self.inbox)).encode()
        return masks.derive(parts, b"tacit common mask" + self.context + names)

    def common_mask(self, names: Iterable[str], length: int) -> np.ndarray:
        """Return what the common seed adds to the sum of some agencies' contributions.

        K times one mask is even for an even K, and would show the lowest bits of the sum: so each
        agency adds 16 bits of its own besides, enough for `MOST_AGENCIES`.
        """
        encoding, seed, given = self.proposal.encoding, self.common_seed(), tuple(names)
        low = encoding.zeros(length)
        for name in given:
            own = masks.derive(seed, b"tacit low mask" + name.encode())
            low[0] += masks.stream(own, 2 * length).view("<u2")
        whole = masks.expand(seed, encoding.words, length)
        return encoding.add(encoding.times(whole, len(given)), low)

    # -- private --------------------------------------------------------------------------------

    def _check_set(self, names: Iterable[str]) -> None:
        given = tuple(names)
        needed = max(self.proposal.threshold, FEWEST)
        if len(set(given)) != len(given) or not set(given) <= set(self.proposal.participants):
            raise RefusedError("the agencies named are not those of the proposal")
        if self.name not in given:
            raise RefusedError("this agency is left out")
        if len(given) < needed:
            raise RefusedError(f"only {len(given)} agencies are left, {needed} are needed")

    def _pair_seed(self, name: str) -> bytes:
        return masks.agree(
            self.mask_key, bytes.fromhex(self.keys[name].mask), pair_purpose(self.context)
        )

    def _box(self, name: str) -> ChaCha20Poly1305:
        public = bytes.fromhex(self.keys[name].channel)
        return ChaCha20Poly1305(
            masks.agree(self.channel_key, public, b"tacit channel" + self.context)
        )

    def _seal(self, name: str, secret: bytes) -> bytes:
        nonce = secrets.token_bytes(12)
        return nonce + self._box(name).encrypt(nonce, secret, _route(self.name, name))

    def _open(self, name: str, sealed: bytes) -> bytes:
        try:
            opened = self._box(name).decrypt(sealed[:12], sealed[12:], _route(name, self.name))
        except (InvalidTag, ValueError) as error:
            raise RefusedError(f"the shares of {name} were changed on the way") from error
        if len(opened) != 2 * SHARE_BYTES + masks.SEED_BYTES:
            raise RefusedError(f"the shares of {name} have the wrong shape")
        return opened


def signed_text(context: bytes, name: str, *parts: bytes) -> bytes:
    """Return what an agency signs when it shows its keys."""
    return b"tacit keys" + context + name.encode() + b"\0" + b"".join(parts)


def check_keys(roster: Roster, context: bytes, name: str, keys: Keys) -> None:
    """Refuse keys that the named agency did not sign for this sum."""
    parts = (bytes.fromhex(part) for part in (keys.channel, keys.mask, keys.commitment))
    roster.check(name, signed_text(context, name, *parts), bytes.fromhex(keys.signature))


def pair_purpose(context: bytes) -> bytes:
    """Return what binds the seed of a pair to one sum."""
    return b"tacit pair mask" + context


def _route(sender: str, receiver: str) -> bytes:
    return f"{sender}>{receiver}".encode()
