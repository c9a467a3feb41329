"""Queries of a community of peers in time order: read from a log, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError

_LARGEST = 2**62
"""Peers times keywords must stay below this: both make up one key."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Who asked for what, in time order."""

    peer: np.ndarray
    """For each query the number of the peer."""
    keyword: np.ndarray
    """For each query the number of the keyword."""
    peers: np.ndarray
    """Names of the peers."""
    keywords: np.ndarray
    """Names of the keywords."""

    @classmethod
    def of(cls, peers: Sequence[Any] | np.ndarray, keywords: Sequence[Any] | np.ndarray) -> Queries:
        """Read queries from two columns of a log, already in time order.

        Parameters
        ----------
        peers, keywords
            User and query of each line; any type. Missing values are refused.
        """
        who, what = _column(peers, "peers"), _column(keywords, "keywords")
        if len(who) != len(what):
            raise DataError("every query needs a peer", got=f"{len(who)} and {len(what)} values")
        if not len(who):
            raise DataError("there are no queries", do="give at least one")
        names, peer = np.unique(who, return_inverse=True)
        words, keyword = np.unique(what, return_inverse=True)
        return cls(peer.astype(np.int64), keyword.astype(np.int64), names, words)

    def __post_init__(self) -> None:
        if len(self.peers) * len(self.keywords) >= _LARGEST:
            raise DataError("there are too many peers and keywords", got=len(self.keywords))

    def __len__(self) -> int:
        return len(self.peer)

    @property
    def n_peers(self) -> int:
        """How many peers there are."""
        return len(self.peers)

    @property
    def n_keywords(self) -> int:
        """How many keywords there are."""
        return len(self.keywords)

    @cached_property
    def interests(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each peer's keywords as keys (peer x keywords + keyword), counts, and place per query."""
        keys, where, counts = np.unique(
            self.peer * self.n_keywords + self.keyword, return_inverse=True, return_counts=True
        )
        return keys, counts, where

    @cached_property
    def n_own(self) -> np.ndarray:
        """How many queries each peer has."""
        return np.bincount(self.peer, minlength=self.n_peers)


def _column(values: Sequence[Any] | np.ndarray, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one column", got=f"shape {array.shape}")
    if array.dtype == object:
        if any(v is None or v != v for v in array.tolist()):
            raise DataError(f"{name} has missing values", do="remove those lines first")
        return array.astype(str)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise DataError(f"{name} has missing values", do="remove those lines first")
    return array


def draw_queries(
    n_peers: int,
    n_each: int = 100,
    *,
    n_keywords: int = 5_000,
    n_interests: int = 10,
    skew: float = 1.0,
    seed: int | None = None,
) -> Queries:
    """Draw the queries of a community whose members have a few interests each.

    Parameters
    ----------
    n_peers
        Number of peers.
    n_each
        Number of queries of each peer.
    n_keywords
        Number of keywords that exist.
    n_interests
        Number of keywords that a peer is interested in.
    skew
        How unequal keywords are, both for a peer and in the community: 0 is equal, 1 is Zipf's law.
    seed
        Makes the draw repeatable.
    """
    counts = {"n_peers": n_peers, "n_each": n_each, "n_keywords": n_keywords,
              "n_interests": n_interests}  # fmt: skip
    for name, number in counts.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise ParameterError(f"{name} must be a whole number above 0", got=repr(number))
    if not 0 <= skew <= 10:
        raise ParameterError("skew must be from 0 to 10", got=skew)
    rng = np.random.default_rng(seed)
    interests = _zipf(rng, n_keywords, (n_peers, n_interests), skew)
    rank = _zipf(rng, n_interests, n_peers * n_each, skew)
    peer = rng.permutation(np.repeat(np.arange(n_peers), n_each))
    return Queries(peer, interests[peer, rank], np.arange(n_peers), np.arange(n_keywords))


def _zipf(
    rng: np.random.Generator, n: int, shape: int | tuple[int, int], skew: float
) -> np.ndarray:
    """Draw ranks 0..n-1 with probabilities falling as a power of the rank."""
    cumulated = np.cumsum(1.0 / np.arange(1, n + 1) ** skew)
    drawn = np.searchsorted(cumulated, rng.random(shape) * cumulated[-1], side="right")
    ranks: np.ndarray = np.minimum(drawn, n - 1).astype(np.int64)
    return ranks
