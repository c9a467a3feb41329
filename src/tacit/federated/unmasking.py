"""The coordinator's part in a secure sum: take away the masks of agencies and of lost ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.federated import masks
from tacit.federated.messages import Keys, Proposal, Unmask
from tacit.federated.shamir import restore
from tacit.federated.summation import pair_purpose

_MOST_TRIES = 2000
"""Sets of shares tried before a secret with false shares is given up."""


@dataclass(frozen=True)
class Unmasking:
    """What the coordinator knows of one sum when all contributions are in."""

    proposal: Proposal
    step: int
    keys: Mapping[str, Keys]
    """Public keys of the agencies whose shares were handed out."""
    contributions: Mapping[str, np.ndarray]
    """Masked contributions of the survivors."""
    shares: Mapping[str, Unmask]
    """What the agencies that still answer gave to take the masks away."""

    def total(self) -> np.ndarray:
        """Return the sum of the survivors' values under the mask that only agencies know."""
        encoding = self.proposal.encoding
        length = next(iter(self.contributions.values())).shape[1]
        total = encoding.zeros(length)
        for name, masked in self.contributions.items():
            own = masks.expand(self._own_seed(name), encoding.words, length)
            total = encoding.subtract(encoding.add(total, masked), own)
        for lost in sorted(set(self.keys) - set(self.contributions)):
            total = self._without(total, lost, self._mask_key(lost))
        return total

    def _without(self, total: np.ndarray, lost: str, key: bytes) -> np.ndarray:
        """Take away the masks that the survivors made with a lost agency."""
        encoding = self.proposal.encoding
        purpose = pair_purpose(self.proposal.digest() + self.step.to_bytes(4, "big"))
        for name in self.contributions:
            seed = masks.agree(key, bytes.fromhex(self.keys[name].mask), purpose)
            stream = masks.expand(seed, encoding.words, total.shape[1])
            total = (encoding.subtract if lost > name else encoding.add)(total, stream)
        return total

    def _own_seed(self, name: str) -> bytes:
        given = {n: s.seeds[name] for n, s in self.shares.items() if name in s.seeds}
        commitment = bytes.fromhex(self.keys[name].commitment)
        return self._restored(name, given, lambda seed: hashlib.sha256(seed).digest() == commitment)

    def _mask_key(self, name: str) -> bytes:
        given = {n: s.keys[name] for n, s in self.shares.items() if name in s.keys}
        public = bytes.fromhex(self.keys[name].mask)
        return self._restored(name, given, lambda key: masks.public_key(key) == public)

    def _restored(
        self, owner: str, given: Mapping[str, str], is_right: Callable[[bytes], bool]
    ) -> bytes:
        """Restore a secret and check it; with a false share among them, try other sets."""
        position = {name: i + 1 for i, name in enumerate(self.proposal.participants)}
        t = self.proposal.threshold
        for chosen in islice(_choices(sorted(given), t), _MOST_TRIES):
            shares = {position[n]: bytes.fromhex(given[n]) for n in chosen}
            try:
                secret = restore(shares, t, masks.SEED_BYTES)
            except ProtectionError:
                continue
            if is_right(secret):
                return secret
        raise ProtectionError(
            f"the masks of {owner} cannot be taken away: its shares, or those given for it, are "
            "false or too few",
            got=f"{len(given)} shares, {t} needed",
        )


def _choices(names: list[str], size: int) -> Iterator[list[str]]:
    """Return sets of holders: without nobody, then without each one, then each two, and so on.

    m liars among n are left out after about n over m tries, whatever their places are.
    """
    left_out = (combinations(names, m) for m in range(len(names) - size + 1))
    for liars in chain.from_iterable(left_out):
        yield [name for name in names if name not in liars][:size]
