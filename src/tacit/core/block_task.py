"""What is done to the records of one block, on whatever machine it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.blocks import N_BUCKETS, Partition, record_numbers
from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.schema import Schema

LEAF, BUCKET, BLOCK = "__tacit_leaf__", "__tacit_bucket__", "__tacit_block__"
_HIDDEN = (LEAF, BUCKET, BLOCK)
_PROTOTYPE = 2_000
"""Records on which a method is tried first, to learn what columns it makes."""


@dataclass(frozen=True)
class Sampler:
    """Keep one record in `share`, chosen by its values."""

    share: int
    salt: int

    def __call__(self, table: Any) -> Any:
        """Return the records of a part that are kept."""
        chosen = record_numbers(table, self.salt) % np.uint64(self.share) == 0
        return table.filter(chosen)


@dataclass(frozen=True)
class Assigner:
    """Say which leaf and which random part of it each record belongs to."""

    partition: Partition
    salt: int

    def __call__(self, table: Any) -> Any:
        """Return a part of the records with their leaves and buckets."""
        import polars as pl

        # high bits, because the sample took the low ones
        bucket = (record_numbers(table, self.salt) >> np.uint64(32)) % np.uint64(N_BUCKETS)
        return table.with_columns(
            pl.Series(LEAF, self.partition.leaves(table), dtype=pl.Int64),
            pl.Series(BUCKET, bucket.astype(np.int64)),
        )


@dataclass(frozen=True)
class BlockTask:
    """A method, ready to be applied to any block of the data."""

    method: Mask
    schema: Schema
    columns: tuple[str, ...]
    """Columns of the block, in order, the record number last."""
    seed: int
    place: tuple[int, ...]
    """Step and data set."""
    types: Any = None
    """Polars types that every block must come out with."""

    def on(self, number: int, table: Any) -> Any:
        """Return a block masked, in the order of the file, with the types all blocks have."""
        released = self.masked(number, table)
        if self.types is None:
            return released
        return released.select(list(self.types)).cast(self.types)

    def masked(self, number: int, table: Any) -> Any:
        """Apply the method to the records of a block, in an order that only values decide."""
        visible = [c for c in self.columns if c != ROW]
        ordered = table.select(self.columns).sort([*visible, ROW], nulls_last=True)
        data = Microdata.of(ordered.select(visible)).with_schema(self.schema)
        masked = self.method.apply(_numbered(data, ordered[ROW]), self._generator(number)).local
        # The order of values would tell about them; the order of the file does not.
        return masked.sort(ROW)

    def _generator(self, number: int) -> np.random.Generator:
        root = np.random.SeedSequence(entropy=self.seed, spawn_key=(*self.place, number))
        return np.random.default_rng(root)

    def prototype(self, sample: Any) -> tuple[Schema, Any]:
        """Return the schema and the types of the columns that the method makes, from a sample."""
        visible = [c for c in self.columns if c != ROW]
        part = sample.sort(visible, nulls_last=True)
        step = max(part.height // _PROTOTYPE, 1)
        part = part.gather_every(step)
        data = Microdata.of(part.select(visible)).with_schema(self.schema)
        made = self.method.apply(_numbered(data, part[ROW]), self._generator(0))
        _check_kept(made.local.height, part.height, self.method)
        return made.schema, dict(made.local.schema)


def _numbered(data: Microdata, rows: Any) -> Microdata:
    """Return the data with the hidden numbers of their records."""
    import narwhals as nw
    import polars as pl

    table = data.local.with_columns(rows.cast(pl.Int64).alias(ROW))
    return Microdata(nw.from_native(table.lazy()), data.schema, data.origin)


def _check_kept(after: int, before: int, method: Mask) -> None:
    if after > before:
        raise DataError(
            f"{method.key} makes new records, which it cannot do block by block",
            do="apply it to data that fit in memory",
        )


def each_block(batches: Iterable[Any], work: Callable[[int, Any], Any]) -> Iterator[Any]:
    """Gather batches that are sorted by block, and work on each block when it is whole."""
    import polars as pl

    waiting: list[Any] = []
    current: int | None = None
    for batch in batches:
        for (number,), part in batch.group_by([BLOCK], maintain_order=True):
            if number != current and waiting:
                yield work(int(current or 0), _whole(pl.concat(waiting)))
                waiting = []
            current = int(number)
            waiting.append(part)
    if waiting:
        yield work(int(current or 0), _whole(pl.concat(waiting)))


def _whole(table: Any) -> Any:
    return table.drop(_HIDDEN, strict=False)
