"""The engine: the only module that touches records, with sums as all that leaves it.

Sums of numbers are sums of whole numbers (multiples of a power of two that fits the data), and
keys are whole numbers, so that every engine returns the same bits whatever order it adds in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from tacit.core.errors import DataError
from tacit.query._moments_rows import Rows
from tacit.query.keys import KEYS
from tacit.tables.perturb.record_keys import MODULUS

if TYPE_CHECKING:
    from tacit.query.source import Registered

BUCKETS = 64
"""Into how many parts units are hashed for the sketch of a set."""
TOP = 3
"""How many of the largest contributions are kept."""
_ROOM = 2**62
_FINEST = 40
_MANY = 1_000_000
"""Above this many records, most are set aside before the largest are ranked."""
_PARTS = 16

Pieces = Sequence[Mapping[str, Sequence[int]]]


@dataclass(frozen=True)
class Coding:
    """How the values of a column become codes inside the engine and after it."""

    column: str
    raw: tuple[Any, ...] = ()
    """Values of a categorical variable; those of equal code are one category."""
    code: tuple[int, ...] = ()
    edges: tuple[float, ...] | None = None
    """Cutpoints of a numeric variable."""
    missing: int | None = None
    """Code of records without a value."""
    renamed: bool = False
    """Whether rare values share one category, so that labels are not the values themselves."""

    @property
    def grouped(self) -> nw.Expr:
        """What records are grouped by."""
        if self.edges is None:
            return nw.col(self.column)
        number = nw.col(self.column).cast(nw.Float64)
        inside = _bin_of(number, self.edges, 0, len(self.edges))
        return nw.when(~number.is_null()).then(inside)

    def among(self, codes: Sequence[int]) -> nw.Expr:
        """Return whether a record has one of these codes."""
        wanted = set(codes)
        column = nw.col(self.column)
        if self.edges is None:
            values = [v for v, c in zip(self.raw, self.code, strict=True) if c in wanted]
            known = column.is_in(values) if values else nw.lit(False)
        else:
            known = self.grouped.is_in(sorted(wanted - {self.missing}))
        if self.missing in wanted:
            return column.is_null() | known.fill_null(False)
        return (~column.is_null()) & known.fill_null(False)

    def labelled(self, labels: Sequence[str]) -> nw.Expr:
        """Return the category of each record as text; missing stays missing."""
        words = [labels[code] for code in self.code]
        return nw.col(self.column).replace_strict(
            list(self.raw), words, default=None, return_dtype=nw.String
        )

    def coded(self, values: Any) -> np.ndarray:
        """Return the codes of values that came back from the engine."""
        import polars as pl

        if self.edges is None:
            table = pl.DataFrame({"v": pl.Series(self.raw, dtype=values.dtype), "c": self.code})
        else:
            bins = np.arange(len(self.edges) + 1)
            table = pl.DataFrame({"v": pl.Series(bins, dtype=values.dtype), "c": bins})
        found = values.to_frame("v").join(table, on="v", how="left", maintain_order="left")["c"]
        return np.asarray(found.fill_null(-1 if self.missing is None else self.missing).to_numpy())


def _bin_of(number: nw.Expr, edges: tuple[float, ...], low: int, high: int) -> nw.Expr:
    """Return the bin of a number by halving: as many comparisons as a binary search."""
    if low == high:
        return nw.lit(low)
    middle = (low + high) // 2
    below, above = (_bin_of(number, edges, *r) for r in ((low, middle), (middle + 1, high)))
    return nw.when(number < edges[middle]).then(below).otherwise(above)


@dataclass(frozen=True)
class Scale:
    """Powers of two by which the sums of one variable are made whole."""

    plain: int
    total: int
    square: int


@dataclass(frozen=True, eq=False)
class Engine:
    """Records with the keys of their units; every method returns sums."""

    frame: nw.LazyFrame[Any]
    codings: Mapping[str, Coding]
    weight: str | None
    n_records: int
    n_units: int
    scales: Mapping[str, Scale] = field(default_factory=dict)
    weight_scale: int = 0
    vectors: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Columns that stand in place of a camouflaged number, by stratum and vector."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Least and largest value of each number, and of the weight."""

    turn: RLock = field(default_factory=RLock)
    """Held while records are read: connections to databases serve one thread at a time."""

    @property
    def one_record_per_unit(self) -> bool:
        """Whether no unit has two records, so that sums over atoms add up."""
        return self.n_records == self.n_units

    @cached_property
    def _weight(self) -> nw.Expr:
        return nw.col(self.weight).cast(nw.Float64) if self.weight else nw.lit(1.0)

    # -- choosing records -----------------------------------------------------------------------

    def where(self, pieces: Pieces) -> nw.Expr | None:
        """Return whether a record is in a union of pieces; nothing where all are."""
        if any(not piece for piece in pieces):
            return None
        parts = [
            nw.all_horizontal(
                *(self.codings[n].among(c) for n, c in piece.items()), ignore_nulls=False
            )
            for piece in pieces
        ]
        return nw.any_horizontal(*parts, ignore_nulls=False)

    def _chosen(
        self, pieces: Pieces, without: np.ndarray | None, only: np.ndarray | None = None
    ) -> nw.LazyFrame[Any]:
        frame = self.frame
        condition = self.where(pieces)
        if condition is not None:
            frame = frame.filter(condition)
        if without is not None and len(without):
            frame = frame.filter(~_is_one_of(without))
        return frame if only is None else frame.filter(_is_one_of(only))

    # -- cells ----------------------------------------------------------------------------------

    def counts(
        self,
        by: Sequence[str],
        pieces: Pieces = ({},),
        *,
        without: np.ndarray | None = None,
        only: np.ndarray | None = None,
        most: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Return codes, records, distinct units, sums of keys and of weights by group.

        Of more than `most` groups, one more than that is fetched.
        """
        frame = self._chosen(pieces, without, only)
        weight = _whole(self._weight, self.weight_scale)
        frame = frame.select(
            *self._groups(by),
            *(nw.col(k) for k in KEYS),
            weight.alias("w"),
        )
        groups = [f"g{j}" for j in range(len(by))]
        frame = self._by_unit(frame, groups, {"n": nw.len(), "w": nw.col("w").sum()})
        sums = {"n": nw.col("n").sum(), "units": nw.len(), "w": nw.col("w").sum()}
        sums |= {"k1": nw.col(KEYS[0]).sum(), "k2": nw.col(KEYS[1]).sum()}
        with self.turn:
            table = _grouped(frame, groups, most, **sums)
        return self._coded(table, by, ["n", "units", "k1", "k2", "w"])

    def buckets(self, by: Sequence[str]) -> dict[str, np.ndarray]:
        """Return codes, bucket and number of distinct units, for groups divided into buckets."""
        part = (nw.col(KEYS[1]) % BUCKETS).alias("bucket")
        frame = self.frame.select(*self._groups(by), part, *KEYS)
        frame = frame if self.one_record_per_unit else frame.unique()
        with self.turn:
            table = _grouped(frame, [*(f"g{j}" for j in range(len(by))), "bucket"], units=nw.len())
        return self._coded(table, by, ["bucket", "units"])

    def totals(
        self,
        by: Sequence[str],
        number: str,
        pieces: Pieces = ({},),
        *,
        weighted: bool = True,
        without: np.ndarray | None = None,
        only: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:
        """Return sums, squares, keys and largest contributions of a variable by group."""
        scale = self.scales[number]
        y, weight = nw.col(number).cast(nw.Float64), self._weight if weighted else nw.lit(1.0)
        frame = self._chosen(pieces, without, only).filter(~nw.col(number).is_null())
        frame = frame.select(
            *self._groups(by),
            *(nw.col(k) for k in KEYS),
            _whole(weight, self.weight_scale).alias("w"),
            _whole(y, scale.plain).alias("y"),
            _whole(y * weight, scale.total).alias("wy"),
            _whole(y * y * weight, scale.square).alias("wyy"),
        )
        groups = [f"g{j}" for j in range(len(by))]
        parts = {name: nw.col(name).sum() for name in ("w", "y", "wy", "wyy")}
        frame = self._by_unit(frame, groups, {"n": nw.len(), **parts})
        sums = {f"s_{name}": nw.col(name).sum() for name in ("n", *parts)}
        facts = {"units": nw.len(), **sums, "largest": nw.col("wy").abs().max()}
        facts |= {"k1": nw.col(KEYS[0]).sum(), "k2": nw.col(KEYS[1]).sum()}
        with self.turn:
            table = _grouped(frame, groups, **facts)
            table = _with_top(table, self._largest(frame, groups), groups)
        names = [*facts, *(f"top{r}" for r in range(1, TOP + 1))]
        return self._coded(table, by, names)

    def _groups(self, by: Sequence[str]) -> list[nw.Expr]:
        return [self.codings[name].grouped.alias(f"g{j}") for j, name in enumerate(by)]

    def _by_unit(
        self, frame: nw.LazyFrame[Any], groups: list[str], parts: Mapping[str, nw.Expr]
    ) -> nw.LazyFrame[Any]:
        """Add up the records of each unit within its group, where units have several."""
        if self.one_record_per_unit:
            return frame.with_columns(nw.lit(1).alias("n"))
        return frame.group_by(*groups, *KEYS).agg(*(e.alias(n) for n, e in parts.items()))

    def _largest(self, frame: nw.LazyFrame[Any], groups: list[str]) -> Any:
        """Return the largest absolute contributions of each group, one row per rank."""
        size = frame.select(*groups, nw.col("y").abs().alias("size"), *KEYS)
        group = groups
        if not groups:
            size, group = size.with_columns(nw.lit(0).alias("all")), ["all"]
        if self.n_records > _MANY:
            size = _among_largest(size, group)
        # Equal contributions are equal whichever comes first, so ties need no rule.
        rank = nw.col("size").rank("ordinal", descending=True).over(*group)
        best = size.with_columns(rank.alias("rank")).filter(nw.col("rank") <= TOP)
        return best.select(*groups, "size", "rank").collect("polars").to_native()

    def _coded(self, table: Any, by: Sequence[str], sums: list[str]) -> dict[str, np.ndarray]:
        codes = np.zeros((table.height, len(by)), dtype=np.int64)
        for j, name in enumerate(by):
            codes[:, j] = self.codings[name].coded(table[f"g{j}"])
        return {"codes": codes} | {n: table[n].to_numpy().astype(np.int64) for n in sums}

    # -- designs of models ----------------------------------------------------------------------

    def rows(
        self, pieces: Pieces, schema: Registered, without: np.ndarray | None, n: int = 0
    ) -> Rows:
        """Return the records of a universe, about n, as the sums of models take them."""
        return Rows.of(
            self._chosen(pieces, without),
            self.codings,
            schema.variables,
            weight=self.weight,
            keys=KEYS,
            repeated=not self.one_record_per_unit,
            n=n,
            ranges=self.ranges,
        )

    # -- records that Drop-q leaves out ---------------------------------------------------------

    def picked(self, pieces: Pieces, q: int, a: int, b: int) -> np.ndarray:
        """Return the keys of the q units with the smallest (a rk1 + b) mod p, ties by rk2."""
        frame = self._chosen(pieces, None).select(*KEYS)
        if not self.one_record_per_unit:
            frame = frame.unique()
        order = ((nw.col(KEYS[0]) * a + b) % MODULUS).alias("order")
        frame = frame.with_columns(order).sort("order", KEYS[1]).head(q)
        with self.turn:
            return np.asarray(frame.select(*KEYS).collect("polars").to_native().to_numpy())


def _among_largest(size: nw.LazyFrame[Any], group: list[str]) -> nw.LazyFrame[Any]:
    """Return the records that may be among the largest of their group, and few others.

    Each group is divided into parts. The three largest of its parts' maxima are three of its
    values, so that none below the least of them is among its three largest. Ranking the few that
    are left takes no memory.
    """
    part = (nw.col(KEYS[1]) % _PARTS).alias("part")
    most = size.with_columns(part).group_by(*group, "part").agg(nw.col("size").max().alias("least"))
    rank = nw.col("least").rank("ordinal", descending=True).over(*group)
    least = most.with_columns(rank.alias("rank")).filter(nw.col("rank") == TOP)
    joined = size.join(least.select(*group, "least"), on=group, how="left")
    return joined.filter(nw.col("least").is_null() | (nw.col("size") >= nw.col("least")))


def _is_one_of(keys: np.ndarray) -> nw.Expr:
    """Return whether a record belongs to one of these units."""
    pairs = [
        (nw.col(KEYS[0]) == int(first)) & (nw.col(KEYS[1]) == int(second)) for first, second in keys
    ]
    return nw.any_horizontal(*pairs, ignore_nulls=False) if pairs else nw.lit(False)


def _whole(number: nw.Expr, exponent: int) -> nw.Expr:
    """Return a number times a power of two, rounded: the same whole number on every engine."""
    return (number * float(2.0**exponent) + 0.5).floor().cast(nw.Int64)


def _grouped(
    frame: nw.LazyFrame[Any], groups: list[str], most: int | None = None, /, **sums: nw.Expr
) -> Any:
    asked = [e.cast(nw.Int64).alias(n) for n, e in sums.items()]
    if groups:
        table = frame.group_by(*groups).agg(*asked)
        table = table if most is None else table.head(most + 1)
        return table.collect("polars").to_native()
    return frame.select(*asked).collect("polars").to_native().fill_null(0)


def _with_top(table: Any, best: Any, groups: list[str]) -> Any:
    """Add the largest contributions, one column per rank; 0 where a group has fewer units."""
    import polars as pl

    for rank in range(1, TOP + 1):
        ranked = best.filter(pl.col("rank") == rank).select(
            *groups, pl.col("size").alias(f"top{rank}")
        )
        if groups:
            table = table.join(ranked, on=groups, how="left", nulls_equal=True)
        else:
            value = ranked[f"top{rank}"].to_list() or [0]
            table = table.with_columns(pl.lit(value[0]).alias(f"top{rank}"))
    return table.with_columns(pl.col(f"top{r}").fill_null(0) for r in range(1, TOP + 1))


def exponent(bound: float, n: int) -> int:
    """Return the largest power of two that keeps the sum of n numbers up to `bound` below 2^62."""
    if not np.isfinite(bound):
        raise DataError("a server needs finite numbers")
    if bound <= 0 or n <= 0:
        return 0
    return int(min(_FINEST, np.floor(np.log2(_ROOM / (bound * n)))))
