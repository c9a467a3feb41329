"""Pairing a release with its original, record by record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError


@dataclass(frozen=True)
class Pair:
    """An original, its release, and which original record each released record came from."""

    original: Microdata
    released: Microdata
    rows: np.ndarray | None
    """Original position of each released record, -1 for a simulated one; None if not known."""

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
        return self.rows[real], real

    @property
    def shared(self) -> list[str]:
        """Columns that both files have."""
        return [c for c in self.original.columns if c in self.released.schema]


def pair(original: Any, release: Any = None) -> Pair:
    """Bring an original and a release (or a frame, or nothing: the original itself) together.

    A `Release` knows where its records came from. Two plain files are paired by position if they
    have the same number of records; otherwise they stay unpaired.
    """
    before = Microdata.of(original)
    after = before if release is None else _data_of(release)
    if release is not None and after is not before and not after.schema.has_roles:
        known = [c for c in before.columns if c in after.schema]
        after = after.with_schema(_copied_roles(before, after, known))
    rows = after.rows
    if rows is None and before.n_records == after.n_records:
        rows = np.arange(before.n_records)
    if rows is not None and rows.max(initial=-1) >= before.n_records:
        raise DataError(
            "the release was made from other data than these",
            got=f"record {rows.max() + 1:,} of {before.n_records:,}",
        )
    return Pair(before, after, rows)


def _data_of(release: Any) -> Microdata:
    """Return the records of a release; a frame may have a column named data, so look twice."""
    held = getattr(release, "data", None)
    return held if isinstance(held, Microdata) else Microdata.of(release)


def _copied_roles(before: Microdata, after: Microdata, columns: list[str]) -> Any:
    """Give the released columns the roles of the original ones, keeping their own kinds."""
    schema = before.schema.select(columns)
    variables = tuple(v.replace(kind=after.schema[v.name].kind) for v in schema.variables)
    return schema.replace(variables=variables)
