"""Masks that two agencies can make and nobody else: X25519, HKDF and ChaCha20."""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tacit.core.errors import ProtectionError

SEED_BYTES = 32
_BLOCK = 1 << 20
"""Bytes of the stream made at a time, so that a long mask needs little besides itself."""


def new_key() -> bytes:
    """Draw a private key of X25519."""
    return X25519PrivateKey.generate().private_bytes_raw()


def public_key(private: bytes) -> bytes:
    """Return the public key of a private one."""
    key = X25519PrivateKey.from_private_bytes(private).public_key()
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def derive(secret: bytes, purpose: bytes) -> bytes:
    """Derive a seed for one purpose from a secret (HKDF with SHA-256)."""
    return HKDF(hashes.SHA256(), SEED_BYTES, salt=None, info=purpose).derive(secret)


def agree(private: bytes, public: bytes, purpose: bytes) -> bytes:
    """Return the seed that the owners of two keys share, and nobody else has.

    Examples
    --------
    >>> a, b = new_key(), new_key()
    >>> agree(a, public_key(b), b"sum 1") == agree(b, public_key(a), b"sum 1")
    True
    """
    try:
        other = X25519PublicKey.from_public_bytes(public)
        secret = X25519PrivateKey.from_private_bytes(private).exchange(other)
    except ValueError as error:
        raise ProtectionError("a public key is not usable", do="see who sent it") from error
    return derive(secret, purpose)


def stream(seed: bytes, n_bytes: int) -> np.ndarray:
    """Stretch a seed, which is used once, to `n_bytes` that look random (ChaCha20)."""
    encryptor = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor()
    out, zeros = np.empty(n_bytes, dtype=np.uint8), bytes(min(_BLOCK, n_bytes))
    for start in range(0, n_bytes, _BLOCK):
        part = out[start : start + _BLOCK]
        encryptor.update_into(zeros[: len(part)], part)  # type: ignore[arg-type]
    return out


def expand(seed: bytes, words: int, length: int) -> np.ndarray:
    """Return ring elements, words by numbers, that are uniform to whoever lacks the seed."""
    return stream(seed, 8 * words * length).view("<u8").reshape(words, length)
