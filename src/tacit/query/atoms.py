"""Atoms: the cells of all binned variables together, of which every universe is a union."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from tacit.core.errors import DataError
from tacit.query._coarser_atoms import CoarserCubes, Origin, rows_summed
from tacit.query._coarser_atoms import summed as _added
from tacit.query.engine import BUCKETS, TOP, Engine, Pieces
from tacit.query.evidence import Cells
from tacit.query.universe import Universe
from tacit.tables.perturb.record_keys import MODULUS

MOST_CELLS = 250_000
"""Cells of one table, margins included."""
MOST_ATOMS = 1_000_000
"""Atoms of a cube, and so of what a server keeps in memory."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The units of a universe: which atoms, how many units, and their fingerprint."""

    universe: Universe
    pieces: Pieces
    cube: AtomCube
    n: int
    units: int
    keys: tuple[int, int]

    @cached_property
    def atoms(self) -> np.ndarray:
        """Whether each atom of the cube belongs to it."""
        return self.cube.mask(self.pieces)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of its conditions."""
        return tuple(dict.fromkeys(name for piece in self.pieces for name in piece))

    @property
    def fingerprint(self) -> tuple[int, int, int]:
        """What identifies the set of units, however it was described."""
        return self.units, *self.keys

    @property
    def key_pair(self) -> np.ndarray:
        """The two keys as an array of one row."""
        return np.array([self.keys], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class AtomCube:
    """One group-by over the universe variables: counts and keys of every atom that has units.

    Sums of a numeric variable are added when first asked for. Where a unit has several records
    its atoms overlap; then distinct units and keys of a union are counted in the engine.
    """

    engine: Engine
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: np.ndarray
    """Atoms by variables, sorted."""
    n: np.ndarray
    units: np.ndarray
    keys: np.ndarray
    weight: np.ndarray
    block: tuple[np.ndarray, np.ndarray] | None = None
    """Codes of the finest atoms and the block of each, where atoms were joined."""
    origin: Origin | None = None
    """Where the atoms come from, in a cube of fewer variables."""
    _numbers: dict[tuple[str, bool], dict[str, np.ndarray]] = field(default_factory=dict)
    _coarser: CoarserCubes = field(default_factory=CoarserCubes)

    @classmethod
    def build(cls, engine: Engine, sizes: Mapping[str, int]) -> AtomCube:
        """Make the cube of these variables in one pass."""
        names = tuple(sizes)
        raw = engine.counts(names, most=MOST_ATOMS)
        if len(raw["n"]) > MOST_ATOMS:
            raise _too_fine(sizes)
        codes, group = _atoms(raw["codes"])
        summed = {k: _added(raw[k], group, len(codes)) for k in ("n", "units", "w")}
        keys = [_added(raw[k] % MODULUS, group, len(codes)) % MODULUS for k in ("k1", "k2")]
        return cls(
            engine,
            names,
            tuple(sizes.values()),
            codes,
            summed["n"],
            summed["units"],
            np.stack(keys, axis=1),
            summed["w"],
        )

    def __len__(self) -> int:
        return len(self.n)

    @cached_property
    def place(self) -> dict[str, int]:
        """Which column of the codes each variable has."""
        return {name: j for j, name in enumerate(self.names)}

    def over(self, names: Iterable[str]) -> AtomCube:
        """Return the cube of some variables: the same sums, over fewer atoms."""
        return self._coarser.of(self, names)

    def whole(self, values: np.ndarray) -> np.ndarray:
        """Return values of the atoms of a coarser cube for each atom of the finest one."""
        return values if self.origin is None else np.asarray(values[self.origin.whole])

    # -- universes ------------------------------------------------------------------------------

    def select(self, universe: Universe, pieces: Pieces) -> Selection:
        """Return the units of a universe."""
        small = self.over(name for piece in pieces for name in piece)
        atoms = small.mask(pieces)
        n = int(small.n[atoms].sum())
        if self.engine.one_record_per_unit:
            units, keys = n, small.keys[atoms].sum(axis=0) % MODULUS
        else:
            found = self.engine.counts((), pieces)
            units = int(found["units"][0])
            keys = np.array([found["k1"][0] % MODULUS, found["k2"][0] % MODULUS])
        return Selection(universe, pieces, self, n, units, (int(keys[0]), int(keys[1])))

    def mask(self, pieces: Pieces) -> np.ndarray:
        """Return which atoms are in a union of pieces."""
        chosen = np.zeros(len(self), dtype=bool)
        for piece in pieces:
            chosen |= self.piece_mask(piece)
        return chosen

    def piece_mask(self, piece: Mapping[str, Sequence[int]]) -> np.ndarray:
        """Return which atoms satisfy all conditions of one piece."""
        inside = np.ones(len(self), dtype=bool)
        for name, codes in piece.items():
            wanted = np.zeros(self.sizes[self.place[name]], dtype=bool)
            wanted[list(codes)] = True
            inside &= wanted[self.codes[:, self.place[name]]]
        return inside

    # -- tables ---------------------------------------------------------------------------------

    def subsets(self, by: Sequence[str], margins: bool) -> list[tuple[int, ...]]:
        """Return which dimensions are kept, for the table and each of its margins."""
        full = tuple(range(len(by)))
        if not margins:
            return [full]
        return [kept for size in range(len(by), -1, -1) for kept in combinations(full, size)]

    def cell_of(self, by: Sequence[str], kept: tuple[int, ...]) -> np.ndarray:
        """Return the cell of each atom, in a table of the kept dimensions."""
        flat = np.zeros(len(self), dtype=np.int64)
        for j in kept:
            at = self.place[by[j]]
            flat = flat * self.sizes[at] + self.codes[:, at]
        return flat

    def cell_in(self, cells: Cells, kept: tuple[int, ...]) -> np.ndarray:
        """Return the cell of each atom at one level of a table, or -1 where it is in none."""
        flat, inside = np.zeros(len(self), dtype=np.int64), np.ones(len(self), dtype=bool)
        for j in kept:
            codes = self.codes[:, self.place[cells.by[j]]]
            join = cells.joins[j] if cells.joins else None
            codes = codes if join is None else join[codes]
            inside &= codes >= 0
            flat = flat * len(cells.labels[j]) + codes
        return np.where(inside, flat, -1)

    def knows(self, name: str, weighted: bool) -> bool:
        """Whether the sums of a variable are known without reading records."""
        weighted &= self.engine.weight is not None
        finer = self.origin is not None and self.origin.finer.knows(name, weighted)
        return finer or (name, weighted) in self._numbers

    def numbers(self, name: str, weighted: bool) -> dict[str, np.ndarray]:
        """Return the sums of a variable by atom, from the engine the first time."""
        weighted &= self.engine.weight is not None
        if (name, weighted) not in self._numbers and self.origin is not None:
            finer = self.origin.finer.numbers(name, weighted)
            self._numbers[name, weighted] = merged(finer, self.origin.group, len(self))
        elif (name, weighted) not in self._numbers:
            raw = self.engine.totals(self.names, name, weighted=weighted)
            group = self._group_of(raw["codes"])
            self._numbers[name, weighted] = merged(raw, group, len(self))
        return self._numbers[name, weighted]

    def _group_of(self, codes: np.ndarray) -> np.ndarray:
        """Return the atom, or the block of atoms, of each row of codes."""
        if self.block is None:
            return _atoms(codes, self.codes)[1]
        finest, block = self.block
        return np.asarray(block[_atoms(codes, finest)[1]])

    def blocked(self, minimum: int) -> AtomCube:
        """Return the cube with atoms joined, once and for all, into blocks of enough units.

        Neighbours in the order of their codes are joined until they hold `minimum` units; all units
        of a block then have the codes of its largest atom. No answer can divide a block.
        """
        block = _filled(self.units, minimum)
        n_blocks = int(block.max(initial=0)) + 1
        order = np.lexsort((-self.units, block))
        first = order[np.searchsorted(block[order], np.arange(n_blocks))]
        keys = [_added(self.keys[:, j], block, n_blocks) % MODULUS for j in range(2)]
        return replace(
            self,
            codes=self.codes[first],
            n=_added(self.n, block, n_blocks),
            units=_added(self.units, block, n_blocks),
            keys=np.stack(keys, axis=1),
            weight=_added(self.weight, block, n_blocks),
            block=(self.codes, block),
            _numbers={},
            _coarser=CoarserCubes(),
        )

    @cached_property
    def sketches(self) -> np.ndarray:
        """Atoms by buckets: how many units fall into each part of a secret partition of them."""
        if self.origin is not None:
            return rows_summed(self.origin.finer.sketches, self.origin.group, len(self))
        raw = self.engine.buckets(self.names)
        group = self._group_of(raw["codes"])
        found = np.zeros((len(self), BUCKETS), dtype=np.int32)
        np.add.at(found, (group, raw["bucket"]), raw["units"].astype(np.int32))
        return found

    def sketch(self, selection: Selection) -> np.ndarray:
        """Return how the units of a universe fall into the secret parts."""
        small = self.over(selection.names)
        return np.asarray(small.sketches[small.mask(selection.pieces)].sum(axis=0))

    def cell_sketches(self, selection: Selection, cells: Cells) -> np.ndarray:
        """Return how the units of each cell fall into the secret parts.

        The atoms are added up once, to the innermost cells; margins are sums of those.
        """
        small = self.over((*selection.names, *cells.by))
        chosen, every = small.mask(selection.pieces), tuple(range(len(cells.by)))
        place = small.cell_in(cells, every)
        chosen &= place >= 0
        inner = rows_summed(small.sketches[chosen], place[chosen], cells.level_size(every))
        grid = inner.reshape(*(len(cells.labels[j]) for j in every), BUCKETS)
        parts = [
            grid.sum(axis=tuple(j for j in every if j not in kept)).reshape(-1, BUCKETS)
            for kept in cells.levels
        ]
        return np.concatenate(parts).astype(np.int32)


def _too_fine(sizes: Mapping[str, int]) -> DataError:
    finest = sorted(sizes, key=lambda name: -sizes[name])[:3]
    return DataError(
        "the variables of universes and tables divide the data too finely",
        got=f"more than {MOST_ATOMS:,} combinations of {len(sizes)} variables",
        do="serve fewer of them (categories= and numbers= of Source) or coarser ones; the finest "
        f"are {', '.join(finest)}",
    )


def _atoms(codes: np.ndarray, known: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows, sorted, and which of them each row is."""
    if not codes.shape[1]:
        return np.zeros((1, 0), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    both = codes if known is None else np.vstack([known, codes])
    span = both.max(axis=0, initial=0) + 1
    if float(np.prod(span.astype(float))) < 2**62:
        flat = np.ravel_multi_index(tuple(both.T), tuple(int(s) for s in span))
        _, first, group = np.unique(flat, return_index=True, return_inverse=True)
        rows = both[first]
    else:
        rows, group = np.unique(both, axis=0, return_inverse=True)
    return rows, np.asarray(group).ravel()[0 if known is None else len(known) :]


def _filled(units: np.ndarray, minimum: int) -> np.ndarray:
    """Return a block for each atom, in order, so that every block holds enough units."""
    block = np.empty(len(units), dtype=np.int64)
    total, start, held = np.cumsum(units), 0, 0
    current = 0
    while start < len(units):
        stop = int(np.searchsorted(total, held + minimum)) + 1
        if stop > len(units) or total[-1] - total[stop - 1] < minimum:
            stop = len(units)
        block[start:stop] = current
        start, held, current = stop, int(total[stop - 1]), current + 1
    return block


def merged(
    raw: Mapping[str, np.ndarray], group: np.ndarray, n_groups: int
) -> dict[str, np.ndarray]:
    """Return sums of a variable over groups of rows: sums add, the largest are found again."""
    found = {
        name: _added(raw[name], group, n_groups)
        for name in ("units", "s_n", "s_w", "s_y", "s_wy", "s_wyy")
    }
    found |= {name: _added(raw[name] % MODULUS, group, n_groups) % MODULUS for name in ("k1", "k2")}
    largest = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(largest, group, raw["largest"])
    found["largest"] = largest
    top = _largest_of(
        np.stack([raw[f"top{r}"] for r in range(1, TOP + 1)], axis=1), group, n_groups
    )
    return found | {f"top{r + 1}": top[:, r] for r in range(TOP)}


def _largest_of(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the three largest values of each group."""
    flat, owner = values.ravel(), np.repeat(group, values.shape[1])
    order = np.lexsort((-flat, owner))
    owner, flat = owner[order], flat[order]
    first = np.searchsorted(owner, np.arange(n_groups))
    rank = np.arange(len(owner)) - first[owner]
    best = np.zeros((n_groups, TOP), dtype=np.int64)
    kept = rank < TOP
    best[owner[kept], rank[kept]] = flat[kept]
    return best
