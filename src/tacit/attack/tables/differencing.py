"""Differencing of tables: slivers between classifications that almost coincide."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import count_tables
from tacit.attack.target import TableTarget
from tacit.core.keys import encode_series

if TYPE_CHECKING:
    from tacit.core.data import Microdata
    from tacit.tables import ProtectedTable


class TableDifferencing(
    Attack,
    key="table-differencing",
    title="Differencing of overlapping tables",
    cites=("domingoferrer2007", "hundepool2012"),
):
    r"""Subtract cells of one table from a cell of another that contains them.

    Missing values: a category of its own. Weights: tables of unweighted counts only. Households:
    not considered.

    Notes
    -----
    Two classifications of the same people, say municipalities and catchment areas, cut each other
    into slivers. Where cells :math:`A_1, \dots, A_m` of one table lie inside a cell :math:`B` of
    another, :math:`B - \sum A_j` is the sliver that is left. The attack is on slivers of 1 to
    `largest` people all of whose counts are published; it succeeds if the difference of published
    counts is the true one. Guessing names the most common size of a sliver. Where no count was
    changed nothing is left to chance: guessing names a number from 0 to `largest` blindly, and one
    sliver that is known is a leak.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import attack, tables
    >>> frame = pl.DataFrame({"town": list("aaaabbbb"), "area": list("xxxxxyyy")})
    >>> made = [tacit.tabulate(frame, name) for name in ("town", "area")]
    >>> bare = tuple(tables.ProtectedTable(t, t.sensitive(), t.value) for t in made)
    >>> target = attack.TableTarget(bare, tacit.Microdata.of(frame))
    >>> attack.TableDifferencing().run(target).n_broken
    2
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Publish nested classifications only, use noise that sticks to the units, or protect the "
        "tables together (tables.link)."
    )

    largest: Annotated[int, Ge(1)] = 3
    """Largest sliver that tells something about single people."""

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no two tables, or no data to see how they overlap."""
        if len(count_tables(target)) < 2:
            return "there are no two tables of counts"
        if target.data is None:
            return "how the tables overlap is not known without the data"
        names = {d.name for t in count_tables(target) for d in t.original.dimensions}
        missing = names - set(target.data.columns)
        return f"the data have no column {min(missing)!r}" if missing else None

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Subtract wherever cells of one table lie inside a cell of another."""
        truths, found = [], []
        for outer, inner in permutations(count_tables(target), 2):
            truth, estimate = _slivers(outer, inner, target.data, self.largest)
            truths.append(truth)
            found.append(estimate)
        truth, estimate = np.concatenate(truths), np.concatenate(found)
        right = estimate == truth
        exact = not any(t.changed.any() for t in count_tables(target))
        common = np.bincount(truth.astype(np.int64)).argmax() if len(truth) else 0
        return Outcome(
            hits=right.astype(float), unit="sliver", exact=exact,
            guesses=1.0 / (self.largest + 1) if exact else (truth == common).astype(float),
            question=f"Count slivers of at most {self.largest} people between two tables",
            worst=f"{int(right.sum())} slivers of {int(truth[right].sum())} people are known",
            details={"slivers": len(truth)},
        )  # fmt: skip


def _slivers(
    outer: ProtectedTable, inner: ProtectedTable, data: Microdata | None, largest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the true sizes of small slivers that are told, and what the counts say."""
    if data is None:
        return np.empty(0), np.empty(0)
    big, small = (_leaf_cells(table, data) for table in (outer, inner))
    usable = (big >= 0) & (small >= 0)
    pairs, overlap = np.unique(
        np.stack([big[usable], small[usable]], axis=1), axis=0, return_counts=True
    )
    inside = overlap == inner.original.value[pairs[:, 1]]
    n_cells = outer.original.n_cells
    taken = np.bincount(pairs[inside, 0], inner.original.value[pairs[inside, 1]], n_cells)
    seen = np.bincount(pairs[inside, 0], inner.published[pairs[inside, 1]], n_cells)
    left = outer.original.value - taken
    chosen = np.flatnonzero((taken > 0) & (left > 0) & (left <= largest))
    told = outer.published - seen
    chosen = chosen[np.isfinite(told[chosen])]
    return left[chosen], told[chosen]


def _leaf_cells(table: ProtectedTable, data: Microdata) -> np.ndarray:
    """Return the cell of the table that each record is in, -1 if none."""
    import polars as pl

    original = table.original
    wanted = np.empty((data.n_records, len(original.dimensions)), dtype=np.int64)
    for place, dimension in enumerate(original.dimensions):
        series = data.local[dimension.name].cast(pl.String)
        codes = encode_series(series)
        values = series.drop_nulls().unique().sort().to_list()
        at = np.array([dimension.index.get(v, -1) for v in values] + [-1])
        wanted[:, place] = at[codes]
    sizes = np.array([len(d.codes) for d in original.dimensions])
    steps = np.concatenate([[1], np.cumprod(sizes[:-1])])
    where = np.full(int(np.prod(sizes)), -1)
    where[original.codes.astype(np.int64) @ steps] = np.arange(original.n_cells)
    return np.where((wanted >= 0).all(axis=1), where[(wanted @ steps).clip(0)], -1)
