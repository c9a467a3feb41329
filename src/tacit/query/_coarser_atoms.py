"""Cubes of fewer variables, made from the atoms when first asked for and kept while there is room.

A request names a few variables. The sums over its cells are the same from a small cube of those
variables as from all atoms, and are found in a fraction of the time.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import DataError
from tacit.tables.perturb.record_keys import MODULUS

if TYPE_CHECKING:
    from tacit.query.atoms import AtomCube

_ROOM = 2**28
"""Bytes of all cubes that are kept."""
_BLOCKS = 4
"""Into how many blocks variables are put, for cubes from which smaller ones are made."""
_PER_ATOM = 40 + 4 * 64
"""Bytes of the sums and of the sketch of an atom."""
_COUNTABLE = 2**62
"""Beyond so many combinations, cells cannot be numbered."""
_SPARSE = 4
"""A table of all combinations is used where it has at most so many entries for each atom."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the atoms of a coarser cube come from."""

    finer: AtomCube
    group: np.ndarray
    """The coarser atom of each atom of the finer cube."""
    whole: np.ndarray
    """The coarser atom of each atom of the finest cube."""


@dataclass(eq=False)
class CoarserCubes:
    """The coarser cubes of one cube; those not used for longest are forgotten first."""

    room: int = _ROOM
    _kept: OrderedDict[frozenset[str], AtomCube] = field(default_factory=OrderedDict)
    _turn: RLock = field(default_factory=RLock)

    def of(self, cube: AtomCube, names: Iterable[str]) -> AtomCube:
        """Return the cube of these variables, or the whole cube where it is hardly larger."""
        wanted = frozenset(names)
        with self._turn:
            if wanted not in self._kept:
                self._kept[wanted] = self._made(cube, wanted)
                self._forget()
            self._kept.move_to_end(wanted)
            return self._kept[wanted]

    def _made(self, cube: AtomCube, wanted: frozenset[str]) -> AtomCube:
        finer = min([cube, *(c for k, c in self._kept.items() if k > wanted)], key=len)
        between = _around(cube, wanted)
        if finer is cube and wanted < between < frozenset(cube.names):
            finer = self.of(cube, between)
        names = tuple(name for name in cube.names if name in wanted)
        if math.prod(cube.sizes[cube.place[name]] for name in names) >= _COUNTABLE:
            return finer
        made = coarser(finer, names)
        return finer if 2 * len(made) > len(finer) else made

    def _forget(self) -> None:
        while len(self._kept) > 1 and sum(_bytes(c) for c in self._all()) > self.room:
            self._kept.popitem(last=False)

    def _all(self) -> Iterable[AtomCube]:
        """Return every cube in memory: those kept, and those that they come from."""
        found: dict[int, AtomCube] = {}
        for cube in self._kept.values():
            while cube.origin is not None and id(cube) not in found:
                found[id(cube)] = cube
                cube = cube.origin.finer
        return found.values()


def _around(cube: AtomCube, wanted: frozenset[str]) -> frozenset[str]:
    """Return more variables than wanted, a few choices of which cover all small requests.

    Variables are in four blocks, of about as many categories each; whole blocks are taken. The
    cubes of two blocks are few, and from them the cube of any pair of variables is made quickly.
    """
    order = sorted(cube.names, key=lambda name: -cube.sizes[cube.place[name]])
    blocks = [frozenset(order[start::_BLOCKS]) for start in range(_BLOCKS)]
    return frozenset().union(*(block for block in blocks if block & wanted))


def _bytes(cube: AtomCube) -> int:
    """Return about how much memory a coarser cube takes."""
    if cube.origin is None:
        return 0
    joined = cube.origin.whole.nbytes + cube.origin.group.nbytes
    return joined + len(cube) * (8 * len(cube.names) + _PER_ATOM)


def coarser(cube: AtomCube, names: tuple[str, ...]) -> AtomCube:
    """Return the cube of some of the variables: the same sums over fewer, larger atoms."""
    sizes = tuple(cube.sizes[cube.place[name]] for name in names)
    codes, group = _joined(cube, names, sizes)
    n = len(codes)
    keys = [summed(cube.keys[:, j], group, n) % MODULUS for j in range(2)]
    whole = group if cube.origin is None else group[cube.origin.whole]
    return replace(
        cube,
        names=names,
        sizes=sizes,
        codes=codes,
        n=summed(cube.n, group, n),
        units=summed(cube.units, group, n),
        keys=np.stack(keys, axis=1),
        weight=summed(cube.weight, group, n),
        block=None,
        origin=Origin(cube, group, whole),
        _numbers={},
        _coarser=CoarserCubes(),
    )


def _joined(
    cube: AtomCube, names: tuple[str, ...], sizes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the combinations of codes that occur, in order, and which of them each atom has."""
    flat = cube.cell_of(names, tuple(range(len(names))))
    n_cells = int(np.prod(sizes, initial=1, dtype=float))
    if n_cells <= _SPARSE * len(cube) + 1:
        occurs = np.zeros(n_cells, dtype=bool)
        occurs[flat] = True
        found = np.flatnonzero(occurs)
        group = (np.cumsum(occurs, dtype=np.int32) - 1)[flat]
    else:
        found, group = np.unique(flat, return_inverse=True)
    codes = np.stack(np.unravel_index(found, sizes), axis=1) if names else np.zeros((1, 0), int)
    return codes.astype(np.int64), np.asarray(group, dtype=np.int32).ravel()


def summed(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return whole numbers added up by group."""
    total = np.zeros(n_groups, dtype=np.int64)
    np.add.at(total, group, values)
    return total


def rows_summed(rows: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return rows added up by group, as a sparse product: no row is copied."""
    from scipy import sparse

    n = len(rows)
    if n and not 0 <= int(group.min()) <= int(group.max()) < n_groups:
        raise DataError("cells and atoms do not fit")  # the product would not notice
    ones = np.ones(n, dtype=rows.dtype)
    chosen = sparse.csc_array((ones, group, np.arange(n + 1)), shape=(n_groups, n))
    return np.asarray(chosen @ rows)
