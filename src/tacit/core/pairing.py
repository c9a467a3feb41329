"""Pairing a release with its original, record by record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.common_scale import common_codes
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.schema import Kind, Role

_NOT_SUBSTANTIVE = {Role.WEIGHT, Role.HOUSEHOLD, Role.IDENTIFIER}


@dataclass(frozen=True)
class Pair:
    """An original, its release, and which original record each released record came from."""

    original: Microdata
    released: Microdata
    rows: np.ndarray | None
    """Original position of each released record, -1 for a simulated one; None if not known."""
    by_position: bool = False
    """Whether two plain files were paired for want of anything better than their order."""

    @property
    def sides(self) -> tuple[Microdata, Microdata]:
        """The original and the release."""
        return self.original, self.released

    def kinds(self, name: str) -> set[Kind]:
        """Kinds of a column in the two files."""
        return {side.schema[name].kind for side in self.sides}

    @property
    def matched(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions in the original and in the release of the records that correspond."""
        if self.rows is None:
            raise DataError(
                "the released records cannot be paired with the originals",
                got=f"{self.original.n_records} originals, {self.released.n_records} released",
                do="pass the Release that plan.apply returned, or files of equal length and order",
            )
        real = np.flatnonzero(self.rows >= 0)
        if len(self.rows) and not len(real):
            raise DataError(
                "no released record comes from an original one: all are synthetic",
                do="use measures that need no pairs of records",
            )
        return self.rows[real], real

    @property
    def shared(self) -> list[str]:
        """Columns that both files have."""
        return [c for c in self.original.columns if c in self.released.schema]


def pair(original: Any, release: Any = None, record_id: str | None = None) -> Pair:
    """Bring an original and a release (or a frame, or nothing: the original itself) together.

    A `Release` knows where its records came from. Two plain files are paired by the column
    `record_id`, which numbers their records, where it is given; else by position if they have the
    same number of records; otherwise they stay unpaired.
    """
    before, after = sides(original, release)
    if record_id is not None and after is not before:
        return Pair(before, after, _rows_by_column(before, after, record_id))
    rows = after.rows
    by_position = rows is None and before.n_records == after.n_records
    if by_position:
        rows = np.arange(before.n_records)
    if rows is not None and rows.max(initial=-1) >= before.n_records:
        raise DataError(
            "the release was made from other data than these",
            got=f"record {rows.max() + 1:,} of {before.n_records:,}",
        )
    return Pair(before, after, rows, by_position=by_position and after is not before)


def sides(original: Any, release: Any = None) -> tuple[Microdata, Microdata]:
    """Return the original and the release, which has the roles of the original unless it has own.

    Nothing is paired, so that the records stay where they are.
    """
    before = Microdata.of(original)
    after = before if release is None else _data_of(release)
    if release is not None and after is not before and not after.schema.has_roles:
        known = [c for c in before.columns if c in after.schema]
        after = after.with_schema(_copied_roles(before, after, known))
    return before, after


def substantive_columns(data: Microdata, kinds: Collection[Kind] | None = None) -> list[str]:
    """Columns that say something about the units: no weights, households or identifiers."""
    return [
        v.name
        for v in data.schema.variables
        if not v.roles & _NOT_SUBSTANTIVE and (kinds is None or v.kind in kinds)
    ]


def _rows_by_column(before: Microdata, after: Microdata, name: str) -> np.ndarray:
    """Return for each released record the original record with the same value of a column."""
    for side in (before, after):
        side.schema.require([name])
    external, released = common_codes(
        *(collect(d.lazy.select(name))[name] for d in (before, after))
    )
    for codes, of in ((external, "original"), (released, "release")):
        if np.any(codes < 0) or len(np.unique(codes)) < len(codes):
            raise DataError(
                f"the column {name!r} must have another value on each record of the {of}",
                do="name a column that numbers the records",
            )
    rows = np.full(max(external.max(initial=-1), released.max(initial=-1)) + 1, -1, dtype=np.int64)
    rows[external] = np.arange(len(external))
    return np.asarray(rows[released])


def _data_of(release: Any) -> Microdata:
    """Return the records of a release; a frame may have a column named data, so look twice."""
    held = getattr(release, "data", None)
    return held if isinstance(held, Microdata) else Microdata.of(release)


def _copied_roles(before: Microdata, after: Microdata, columns: list[str]) -> Any:
    """Give the released columns the roles of the original ones, keeping their own kinds."""
    schema = before.schema.select(columns)
    variables = tuple(v.replace(kind=after.schema[v.name].kind) for v in schema.variables)
    return schema.replace(variables=variables)
