"""History: which sets of units a server has spoken about, so that it never speaks of two near ones.

Two sets that differ by fewer than a handful of units would tell about those units when one answer
is taken from the other. The history finds, for a new set, an earlier one that near.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.query.engine import BUCKETS

_MIX = np.random.default_rng(20110).integers(1, 2**63, BUCKETS, dtype=np.uint64) | np.uint64(1)


@dataclass(eq=False)
class SetHistory:
    """Sets of units, each known by how many of its units fall into each of 64 secret parts.

    If two sets differ by d units, their counts differ by at most d in all. So of `distance` groups
    of parts at least one is equal for sets that differ by fewer than `distance` units: looking up
    each group finds every near set, however many sets there are. Sets that are far apart are taken
    for near ones with negligible probability, and then only snapped without need.

    Examples
    --------
    >>> history = SetHistory(distance=3)
    >>> first = np.arange(64)[None, :]
    >>> history.place(first).tolist(), history.place(first + (np.arange(64) == 5)).tolist()
    ([0], [0])
    >>> history.place(first + (np.arange(64) < 5)).tolist()
    [1]
    """

    distance: int
    """Sets that differ by fewer units than this are one set here."""
    kept: list[Any] = field(default_factory=list)
    """What is remembered of each set."""
    _sketches: np.ndarray = field(default_factory=lambda: np.zeros((1024, BUCKETS), np.int32))
    _sizes: np.ndarray = field(default_factory=lambda: np.zeros(1024, np.int64))
    _tables: list[dict[int, list[int]]] = field(default_factory=list)
    _same: dict[bytes, int] = field(default_factory=dict)
    _n: int = 0

    def __len__(self) -> int:
        return self._n

    def find(self, sketches: np.ndarray) -> np.ndarray:
        """Return for each set the earlier set near it, or -1."""
        hashes = self._hashes(sketches)
        return np.array([self._near(s, h) for s, h in zip(sketches, hashes, strict=True)], int)

    def place(self, sketches: np.ndarray) -> np.ndarray:
        """Return for each set the set it is taken for: an earlier one near it, or itself, added."""
        hashes = self._hashes(sketches)
        found = np.empty(len(sketches), dtype=int)
        for row, (sketch, own) in enumerate(zip(sketches, hashes, strict=True)):
            at = self._near(sketch, own)
            found[row] = self._add(sketch, own) if at < 0 else at
        return found

    def _groups(self) -> list[np.ndarray]:
        return np.array_split(np.arange(BUCKETS), min(max(self.distance, 1), BUCKETS))

    def _hashes(self, sketches: np.ndarray) -> list[list[int]]:
        mixed = sketches.astype(np.uint64) * _MIX[None, :]
        parts = [mixed[:, group].sum(axis=1, dtype=np.uint64) for group in self._groups()]
        return np.stack(parts, axis=1).tolist() if len(sketches) else []

    def _near(self, sketch: np.ndarray, hashes: list[int]) -> int:
        """Return a near set: the same one, or the nearest of those that share a group of parts."""
        if not self._tables:
            self._tables = [{} for _ in hashes]
        same = self._same.get(_packed(sketch))
        if same is not None:
            return same
        size = int(sketch.sum())
        for table, own in zip(self._tables, hashes, strict=True):
            among = table.get(own)
            if not among:
                continue
            candidates = np.array(among)
            candidates = candidates[np.abs(self._sizes[candidates] - size) < self.distance]
            apart = np.abs(self._sketches[candidates] - sketch[None, :]).sum(axis=1)
            near = candidates[apart < self.distance]
            if len(near):
                return int(near[np.argmin(apart[apart < self.distance])])
        return -1

    def _add(self, sketch: np.ndarray, hashes: list[int]) -> int:
        if self._n == len(self._sizes):
            self._sketches = np.concatenate([self._sketches, np.zeros_like(self._sketches)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        at, self._n = self._n, self._n + 1
        self._sketches[at], self._sizes[at] = sketch, sketch.sum()
        for table, own in zip(self._tables, hashes, strict=True):
            table.setdefault(own, []).append(at)
        self._same[_packed(sketch)] = at
        self.kept.append({})
        return at


def _packed(sketch: np.ndarray) -> bytes:
    return sketch.astype(np.int32).tobytes()
