"""A check that the coordinator handed out the true sum: a tag that it cannot make."""

from __future__ import annotations

import numpy as np

from tacit.federated import masks

N_TAGS = 2
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def tagged(words: np.ndarray, seed: bytes) -> np.ndarray:
    r"""Append tags to a vector of ring elements; tags of a sum are the sums of tags.

    Notes
    -----
    A tag is :math:`\sum_i \alpha_i v_i \bmod 2^k` with secret weights of 32 bits from a seed that
    all agencies have and the coordinator has not. A coordinator who adds an offset to a sum, to get
    a small cell past the rules, must guess the change of both tags: about one chance in
    :math:`2^{64}` with the default encoding. An offset of :math:`2^s` changes a tag by a multiple
    of it, so that only :math:`\min(32, k - s)` bits are to be guessed: with `COUNTS` and offsets
    that a float can carry one chance in :math:`2^{22}`, and encodings with less room are refused.
    """
    return np.concatenate([words, tags(words, seed)], axis=1)


def is_intact(words: np.ndarray, seed: bytes) -> bool:
    """Whether the tags at the end of a vector belong to the rest."""
    body, found = words[:, :-N_TAGS], words[:, -N_TAGS:]
    return bool(np.array_equal(tags(body, seed), found))


def tags(words: np.ndarray, seed: bytes) -> np.ndarray:
    """Return the tags of a vector, words by tags."""
    n_words, length = words.shape
    weights = masks.stream(masks.derive(seed, b"tacit tag"), 4 * N_TAGS * length)
    alphas = weights.view("<u4").reshape(N_TAGS, length).astype(np.uint64)
    return np.column_stack([_weighted(words, alpha, n_words) for alpha in alphas])


def _weighted(words: np.ndarray, alpha: np.ndarray, n_words: int) -> np.ndarray:
    """Return the weighted sum modulo the ring's size, from halves of words that cannot overflow."""
    total = 0
    for i, word in enumerate(words):
        for j, half in enumerate((word & _LOW, word >> _HALF)):
            product = half * alpha
            low, high = int((product & _LOW).sum()), int((product >> _HALF).sum())
            total += (low + (high << 32)) << (64 * i + 32 * j)
    total %= 1 << (64 * n_words)
    return np.array([(total >> (64 * i)) & (2**64 - 1) for i in range(n_words)], dtype=np.uint64)
