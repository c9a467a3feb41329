"""Views: the sums an analysis may ask for, over the units of one universe and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock

import numpy as np

from tacit.query._moments_rows import Rows
from tacit.query.answer import PARSE, Refused
from tacit.query.atoms import MOST_CELLS, AtomCube, Selection, merged
from tacit.query.engine import TOP, Engine
from tacit.query.evidence import MARGIN, Cells, Factor, Influence, Link, Moments, Sums, Term
from tacit.query.source import Registered
from tacit.tables.perturb.record_keys import MODULUS

_NOBODY = np.empty((0, 2), dtype=np.int64)
Arrays = dict[str, np.ndarray]


class MustRead(Exception):
    """An answer needs more than the atoms, so that records must be read."""


@dataclass(frozen=True, eq=False)
class EngineView:
    """The units of a selection, less those that the data step drops."""

    schema: Registered
    engine: Engine
    cube: AtomCube
    selection: Selection
    dropped: np.ndarray = field(default_factory=lambda: _NOBODY)
    """Keys of the units that are left out."""
    may_read: bool = True
    """Whether records may be read; if not, asking for more than the atoms raises `MustRead`."""

    # -- tables ---------------------------------------------------------------------------------

    def table(
        self,
        by: Sequence[str],
        *,
        totals: Sequence[str] = (),
        weighted: bool = False,
        margins: bool = True,
    ) -> Cells:
        """Count the units of every cell and margin, and add up variables over them."""
        labels = tuple(self.schema.variable(name).labels for name in by)
        for name in totals:
            self.schema.number(name)
        kept = self.cube.subsets(by, margins)
        if sum(_size(labels, k) for k in kept) > MOST_CELLS:
            raise Refused(
                PARSE, "the table has too many cells", hint="use fewer or coarser variables"
            )
        counted = [self._counted(by, labels, k) for k in kept]
        joined = {name: np.concatenate([c[name] for c in counted]) for name in counted[0]}
        return Cells(
            by=tuple(by),
            labels=labels,
            codes=np.concatenate([_codes(labels, k) for k in kept]),
            n=joined["n"],
            units=joined["units"],
            keys=np.stack([joined["k1"], joined["k2"]], axis=1),
            weight=np.ldexp(joined["w"].astype(float), -self.engine.weight_scale),
            sums={name: self._sums(by, labels, kept, (name, weighted)) for name in totals},
            intervals=self._intervals(by, labels, kept, [(n, weighted) for n in totals]),
            weighted=weighted and self.schema.has_weight,
        )

    def _intervals(
        self,
        by: Sequence[str],
        labels: tuple[tuple[str, ...], ...],
        kept: Sequence[tuple[int, ...]],
        asked: Sequence[tuple[str, bool]],
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the least and largest total over the vectors that hide each number."""
        found = {}
        for name, weighted in asked:
            strata = [
                [self._sums(by, labels, kept, (vector, weighted)).total for vector in vectors]
                for vectors in self.engine.vectors.get(name, ())
            ]
            if strata:
                low = np.sum([np.min(sums, axis=0) for sums in strata], axis=0)
                found[name] = low, np.sum([np.max(sums, axis=0) for sums in strata], axis=0)
        return found

    def _small(self, by: Sequence[str]) -> tuple[AtomCube, np.ndarray]:
        """Return the atoms of the variables asked about, and which of them are in the universe."""
        small = self.cube.over((*self.selection.names, *by))
        return small, small.mask(self.selection.pieces)

    def _counted(
        self, by: Sequence[str], labels: tuple[tuple[str, ...], ...], kept: tuple[int, ...]
    ) -> Arrays:
        size = _size(labels, kept)
        if self.engine.one_record_per_unit:
            cube, chosen = self._small(by)
            place = cube.cell_of(by, kept)[chosen]
            parts = {"n": cube.n, "units": cube.units, "w": cube.weight}
            parts |= {"k1": cube.keys[:, 0], "k2": cube.keys[:, 1]}
            found = {name: _spread(part[chosen], place, size) for name, part in parts.items()}
        else:
            names = [by[j] for j in kept]
            with self._reading():
                raw = self.engine.counts(names, self.selection.pieces)
            place = _flat(raw["codes"], labels, kept)
            found = {k: _spread(raw[k], place, size) for k in ("n", "units", "w", "k1", "k2")}
        if len(self.dropped):
            lost = self._lost_counts(by, labels, kept)
            found |= {name: found[name] - lost[name] for name in ("n", "w")}
        return found | {name: found[name] % MODULUS for name in ("k1", "k2")}

    def _lost_counts(
        self, by: Sequence[str], labels: tuple[tuple[str, ...], ...], kept: tuple[int, ...]
    ) -> Arrays:
        names = [by[j] for j in kept]
        with self._reading():
            raw = self.engine.counts(names, self.selection.pieces, only=self.dropped)
        place, size = _flat(raw["codes"], labels, kept), _size(labels, kept)
        return {name: _spread(raw[name], place, size) for name in ("n", "w")}

    def _sums(
        self,
        by: Sequence[str],
        labels: tuple[tuple[str, ...], ...],
        kept: Sequence[tuple[int, ...]],
        what: tuple[str, bool],
    ) -> Sums:
        # A camouflaged number is nowhere; its first vector stands for it, to count its units.
        name = self.engine.vectors.get(what[0], (what[:1],))[0][0]
        what = (name, what[1])
        parts = [self._totals(by, labels, k, what) for k in kept]
        whole = {key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
        scale = self.engine.scales[name]
        weight = np.ldexp(whole["s_w"].astype(float), -self.engine.weight_scale)
        top = np.stack([whole[f"top{r}"] for r in range(1, TOP + 1)], axis=1)
        return Sums(
            n=whole["s_n"],
            units=whole["units"],
            keys=np.stack([whole["k1"], whole["k2"]], axis=1),
            weight=weight,
            total=np.ldexp(whole["s_wy"].astype(float), -scale.total),
            square=np.ldexp(whole["s_wyy"].astype(float), -scale.square),
            plain_total=np.ldexp(whole["s_y"].astype(float), -scale.plain),
            top=np.ldexp(top.astype(float), -scale.plain),
            largest_weighted=np.ldexp(whole["largest"].astype(float), -scale.total),
        )

    def _totals(
        self,
        by: Sequence[str],
        labels: tuple[tuple[str, ...], ...],
        kept: tuple[int, ...],
        what: tuple[str, bool],
    ) -> Arrays:
        (name, weighted), names = what, [by[j] for j in kept]
        size, pieces = _size(labels, kept), self.selection.pieces
        if self.engine.one_record_per_unit:
            cube, chosen = self._small(by)
            if not cube.knows(name, weighted):
                with self._reading():
                    self.cube.numbers(name, weighted)
            atoms = {key: part[chosen] for key, part in cube.numbers(name, weighted).items()}
            found = merged(atoms, cube.cell_of(by, kept)[chosen], size)
        else:
            with self._reading():
                raw = self.engine.totals(names, name, pieces, weighted=weighted)
            found = merged(raw, _flat(raw["codes"], labels, kept), size)
        if len(self.dropped):
            with self._reading():
                raw = self.engine.totals(names, name, pieces, weighted=weighted, only=self.dropped)
            lost = merged(raw, _flat(raw["codes"], labels, kept), size)
            sums = ("s_n", "s_w", "s_y", "s_wy", "s_wyy")
            found |= {key: found[key] - lost[key] for key in sums}
        return found

    # -- models ---------------------------------------------------------------------------------

    def moments(
        self,
        terms: Sequence[Term],
        response: Term,
        *,
        weighted: bool = False,
        link: Link = "identity",
        coefficients: np.ndarray | None = None,
        clip: float | None = None,
    ) -> Moments:
        """Return X'WX, X'Wy and y'Wy of a design in one pass over the complete records."""
        from tacit.query._moments_engine import moments

        with self._reading():
            return moments(
                self._rows,
                terms,
                response,
                weighted=weighted,
                link=link,
                coefficients=coefficients,
                clip=clip,
            )

    def influence(
        self,
        terms: Sequence[Term],
        response: Term,
        coefficients: np.ndarray,
        inverse: np.ndarray,
        *,
        weighted: bool = False,
        link: Link = "identity",
        groups: Sequence[Factor] = (),
        leverage: bool = True,
    ) -> Influence:
        """Return the largest leverage and score of a single unit, and the fit by group."""
        from tacit.query._moments_engine import influence

        with self._reading():
            return influence(
                self._rows,
                terms,
                response,
                coefficients,
                inverse,
                weighted=weighted,
                link=link,
                groups=groups,
                leverage=leverage,
            )

    def leverage_bound(
        self,
        terms: Sequence[Term],
        response: Term,
        inverse: np.ndarray,
        *,
        weighted: bool = False,
        link: Link = "identity",
    ) -> float:
        """Return a number that the leverage of no unit exceeds; infinite where none is known."""
        from tacit.query._moments_engine import leverage_bound

        with self._reading():
            return leverage_bound(
                self._rows, terms, response, inverse, weighted=weighted, link=link
            )

    def pairs(
        self, terms: Sequence[Term], correlation: np.ndarray, *, weighted: bool = False
    ) -> np.ndarray:
        """Return the largest part of a single unit in each correlation and variance."""
        from tacit.query._moments_engine import pairs

        with self._reading():
            return pairs(self._rows, terms, correlation, weighted=weighted)

    def _reading(self) -> RLock:
        """Return the lock of the engine, where records may be read."""
        if not self.may_read:
            raise MustRead
        return self.engine.turn

    @cached_property
    def _rows(self) -> Rows:
        if self.cube.block is not None or self.engine.vectors:
            raise Refused(PARSE, "this server answers tables only")
        chosen = self.selection
        return self.engine.rows(chosen.pieces, self.schema, self.dropped, chosen.n)


def _size(labels: tuple[tuple[str, ...], ...], kept: tuple[int, ...]) -> int:
    size = 1
    for j in kept:
        size *= len(labels[j])
    return size


def _spread(values: np.ndarray, place: np.ndarray, size: int) -> np.ndarray:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, place, values)
    return total


def _flat(
    codes: np.ndarray, labels: tuple[tuple[str, ...], ...], kept: tuple[int, ...]
) -> np.ndarray:
    flat = np.zeros(len(codes), dtype=np.int64)
    for column, j in enumerate(kept):
        flat = flat * len(labels[j]) + codes[:, column]
    return flat


def _codes(labels: tuple[tuple[str, ...], ...], kept: tuple[int, ...]) -> np.ndarray:
    """Return the codes of all cells of a table of the kept dimensions, totals over the others."""
    size = _size(labels, kept)
    codes = np.full((size, len(labels)), MARGIN, dtype=np.int64)
    if kept:
        grid = np.unravel_index(np.arange(size), tuple(len(labels[j]) for j in kept))
        for column, j in zip(grid, kept, strict=True):
            codes[:, j] = column
    return codes
