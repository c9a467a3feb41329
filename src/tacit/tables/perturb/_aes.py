"""Blocks encrypted many at a time: the pseudo-random function behind record and cell keys."""

from __future__ import annotations

import numpy as np

BLOCK = 16
"""Bytes of a block."""


def encrypted(key: bytes, blocks: np.ndarray) -> np.ndarray:
    """Return AES-256 of each row of 16 bytes.

    One block at a time under a key of its own purpose, as a pseudo-random function: equal blocks
    *must* give equal results here.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305 - see above
    done = cipher.update(np.ascontiguousarray(blocks, dtype=np.uint8).tobytes())
    return np.frombuffer(done, dtype=np.uint8).reshape(-1, BLOCK)


def halves(blocks: np.ndarray, modulus: int) -> np.ndarray:
    """Return two numbers below `modulus` from each block: its halves, read as numbers."""
    numbers = np.ascontiguousarray(blocks).view("<u8").reshape(-1, 2)
    return np.asarray(numbers % np.uint64(modulus), dtype=np.int64)


def derived_key(secret: bytes, purpose: str) -> bytes:
    """Return 32 bytes for one purpose from a secret (HKDF with SHA-256)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=32, salt=None, info=purpose.encode()).derive(secret)


def authenticated(key: bytes, texts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return CBC-MAC of texts of any length, one block of each per pass over all of them.

    Parameters
    ----------
    texts
        Bytes of all texts one after the other, and where each begins (with the end of the last).

    Notes
    -----
    The first block holds the length, so that no text begins with another: without that a
    CBC-MAC of texts of different lengths could be forged.
    """
    data, offsets = texts
    length = np.diff(offsets)
    state = np.zeros((len(length), BLOCK), dtype=np.uint8)
    state[:, :8] = length.astype("<u8").view(np.uint8).reshape(-1, 8)
    state = encrypted(key, state).copy()
    rows = np.arange(len(length))
    for start in range(0, int(length.max(initial=0)), BLOCK):
        rows = rows[length[rows] > start]
        state[rows] = encrypted(key, state[rows] ^ _block(data, offsets[rows], length[rows], start))
    return state


def _block(data: np.ndarray, begin: np.ndarray, length: np.ndarray, start: int) -> np.ndarray:
    """Return 16 bytes of each text from `start` on, zeros beyond its end."""
    places = start + np.arange(BLOCK)
    inside = places < length[:, None]
    at = np.where(inside, begin[:, None] + places, 0)
    return np.where(inside, data[at], 0).astype(np.uint8)
