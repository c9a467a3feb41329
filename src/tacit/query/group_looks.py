"""Looks: how much all answers together tell about the size of each group of units.

One released number is one look at its group. Cells inside a group are looks at parts of it, and
add up to more about the whole. What is remembered here is enough to say how many looks at a group
alone would tell as much as everything that was released about it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

import numpy as np

_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_SHIFT = np.uint64(29)


@dataclass(eq=False)
class Told:
    """What was told of one statistic: counts, or totals of a variable."""

    squares: dict[int, float] = field(default_factory=dict)
    """For each group, the sum over its released cells of (value / noise) squared."""
    counted: set[int] = field(default_factory=set)
    """Pairs of a group and a cell inside it that are in these sums."""
    values: dict[int, float] = field(default_factory=dict)
    """The value of each group that was read, with its noise."""
    looks: dict[int, float] = field(default_factory=dict)
    """How many looks at each group would tell as much as all answers."""


@dataclass(eq=False)
class GroupLooks:
    """Remembers, for each group and statistic, the released cells that lie inside it.

    A group is known by its description (the categories that it has) and by its units: descriptions
    of the same units are one group.

    Examples
    --------
    >>> looks = GroupLooks()
    >>> women = described("sex", "f")
    >>> same = looks.keys(
    ...     np.array([women, 7], dtype=np.uint64), np.array([99, 99], dtype=np.uint64)
    ... )
    >>> bool(same[0] == same[1])
    True
    """

    groups: dict[int, int] = field(default_factory=dict)
    """The group that a description stands for, where it is not its own."""
    units: dict[int, int] = field(default_factory=dict)
    """The group of a set of units."""
    told: dict[str, Told] = field(default_factory=lambda: defaultdict(Told))
    spoken: set[frozenset[str]] = field(default_factory=set)
    """Sets of variables that describe groups about which something was told."""

    def keys(self, names: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
        """Return the key of each group, from its description and, where known, its units."""
        flat = names.ravel().tolist()
        if units is None:
            found = [self.groups.get(name, name) for name in flat]
        else:
            found = [
                self._key(name, of) for name, of in zip(flat, units.ravel().tolist(), strict=True)
            ]
        return np.array(found, dtype=np.uint64).reshape(names.shape)

    def _key(self, name: int, units: int) -> int:
        """Return the group of these units; nobody (0) is as many groups as there are names."""
        if not units:
            return self.groups.get(name, name)
        key = self.units.setdefault(units, self.groups.get(name, name))
        if self.groups.get(name, name) != key:
            self._join(name, key)
        return key

    def _join(self, name: int, key: int) -> None:
        """Note that a description stands for units known by another; what was told adds up."""
        before = self.groups.get(name, name)
        self.groups[name] = key
        for told in self.told.values():
            if before in told.squares:
                told.squares[key] = told.squares.get(key, 0.0) + told.squares.pop(before)

    def squares(self, statistic: str, keys: np.ndarray) -> np.ndarray:
        """Return for each group what was told about it so far."""
        known = self.told[statistic].squares
        found = np.array([known.get(key, 0.0) for key in keys.ravel().tolist()], dtype=float)
        return found.reshape(keys.shape)

    def values(self, statistic: str, keys: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return for each group its value where it was read before, else another one."""
        return _known(self.told[statistic].values, keys, otherwise)

    def knows(self, statistic: str, pairs: np.ndarray) -> np.ndarray:
        """Return for each pair of a group and a cell whether it was counted before."""
        counted = self.told[statistic].counted
        found = np.array([pair in counted for pair in pairs.ravel().tolist()], dtype=bool)
        return found.reshape(pairs.shape)

    def add(
        self, statistic: str, keys: np.ndarray, squares: np.ndarray, pairs: Iterable[int]
    ) -> None:
        """Write down what new cells tell about groups."""
        told = self.told[statistic]
        for key, added in zip(keys.ravel().tolist(), squares.ravel().tolist(), strict=True):
            if added > 0:
                told.squares[key] = told.squares.get(key, 0.0) + added
        told.counted.update(pairs)

    def read(
        self, statistic: str, keys: np.ndarray, values: np.ndarray | None, looks: np.ndarray
    ) -> None:
        """Write down the values of groups, and how precisely they are known."""
        told, names = self.told[statistic], keys.ravel().tolist()
        if values is not None:
            told.values.update(zip(names, values.ravel().tolist(), strict=True))
        told.looks.update(zip(names, looks.ravel().tolist(), strict=True))

    def looks(self, statistic: str, keys: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return for each group how many looks it had, else another number."""
        return _known(self.told[statistic].looks, keys, otherwise)


def _known(known: dict[int, float], keys: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    given = zip(keys.ravel().tolist(), np.broadcast_to(otherwise, keys.shape).ravel(), strict=True)
    return np.array([known.get(k, other) for k, other in given], dtype=float).reshape(keys.shape)


@lru_cache(maxsize=2**16)
def described(variable: str, category: str) -> int:
    """Return the number that a condition adds to the description of a group."""
    text = f"{len(variable)} {variable} {category}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def paired(groups: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return one number for each pair of a group and the units of a cell."""
    with np.errstate(over="ignore"):  # modulo 2^64, as it is meant to be
        mixed = np.asarray(groups * _ODD[0] + cells * _ODD[1], dtype=np.uint64)
        return np.asarray((mixed ^ (mixed >> _SHIFT)) * _ODD[0])


def units_of(keys: np.ndarray) -> np.ndarray:
    """Return one number for each set of units, from its two sums of keys; 0 for nobody."""
    pair = keys.astype(np.uint64)
    return (pair[:, 0] << np.uint64(31)) | pair[:, 1]
