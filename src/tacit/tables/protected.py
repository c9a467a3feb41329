"""A protected table: what is published of each cell, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import SchemaError
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table, beside_codes

if TYPE_CHECKING:
    from tacit.tables.audit import Audit
    from tacit.tables.summary import Summary
    from tacit.tables.verification import Verification


class Status(StrEnum):
    """What happened to a cell."""

    SAFE = "safe"
    """Published as it is."""
    EMPTY = "empty"
    """Nobody contributes to it; published as zero."""
    FROZEN = "frozen"
    """Published as it is because it had to be."""
    WAIVED = "waived"
    """Sensitive, published because its contributors agreed."""
    PRIMARY = "primary"
    """Suppressed because a rule found it sensitive."""
    FORCED = "forced"
    """Suppressed because the user asked."""
    SECONDARY = "secondary"
    """Suppressed so that others cannot be worked out."""
    CHANGED = "changed"
    """Published with another value."""
    PERTURBED = "perturbed"
    """Published with a value that may have been changed; which were must not be known."""


SUPPRESSED = (Status.PRIMARY, Status.FORCED, Status.SECONDARY)


@dataclass(frozen=True, eq=False)
class ProtectedTable:
    """A table as it may be published, beside the original it came from.

    `published` holds a number for every cell that is published and NaN for those that are not.
    """

    original: Table
    """The table before protection; stays inside."""
    sensitive: Sensitive
    """Which cells were sensitive."""
    published: np.ndarray
    """What is published: a value per cell, NaN where suppressed."""
    method: str = ""
    """The protection, in words."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What the method has to report: cost, bound, iterations, seconds, warnings."""
    hides_changes: bool = False
    """Whether all published cells bear the same status: which changed would give them away."""

    def __post_init__(self) -> None:
        if len(self.published) != self.original.n_cells:
            raise SchemaError(
                "one published value per cell is needed",
                got=f"{len(self.published)} for {self.original.n_cells} cells",
            )
        # What was checked is what goes out.
        published = self.published.view()
        published.flags.writeable = False
        object.__setattr__(self, "published", published)

    @classmethod
    def suppressing(
        cls,
        table: Table,
        sensitive: Sensitive,
        suppressed: np.ndarray,
        method: str,
        **notes: Any,
    ) -> ProtectedTable:
        """Return the table with some cells left out and the others as they are."""
        published = np.where(suppressed, np.nan, table.value)
        return cls(table, sensitive, published, method, notes)

    def __repr__(self) -> str:
        n = {status: int((self.status == status).sum()) for status in Status}
        found = ", ".join(f"{count:,} {status}" for status, count in n.items() if count)
        return f"ProtectedTable({self.original!r}; {self.method}; {found or 'no cells'})"

    @cached_property
    def attacks(self) -> dict[Any, Audit]:
        """Usual attacks that were made on the table, so that they are not made again."""
        return {}

    @cached_property
    def suppressed(self) -> np.ndarray:
        """Cells that are not published."""
        return np.asarray(np.isnan(self.published))

    @cached_property
    def changed(self) -> np.ndarray:
        """Cells published with another value."""
        return np.asarray(~self.suppressed & (self.published != self.original.value))

    @cached_property
    def listed(self) -> np.ndarray:
        """Cells that readers see: all, but for zeros with noise where empty cells are left out.

        A zero listed there would say that the cell is not empty.
        """
        table = self.original
        sparse = table.n_cells < prod(len(d.codes) for d in table.dimensions)
        hidden = self.hides_changes and sparse and bool(table.dimensions)
        return np.asarray((self.published != 0) | (not hidden))

    @cached_property
    def status(self) -> np.ndarray:
        """What happened to each cell, as words of `Status`."""
        table, hidden = self.original, self.suppressed
        none = np.zeros(table.n_cells, dtype=bool)
        frozen, forced, waived = (
            none if flags is None else flags for flags in (table.frozen, table.forced, table.waived)
        )
        primary = self.sensitive.cells
        return np.select(
            [
                hidden & primary,
                hidden & forced,
                hidden,
                np.full(table.n_cells, self.hides_changes),
                self.changed,
                frozen,
                waived,
                table.is_empty,
            ],
            [
                Status.PRIMARY,
                Status.FORCED,
                Status.SECONDARY,
                Status.PERTURBED,
                Status.CHANGED,
                Status.FROZEN,
                Status.WAIVED,
                Status.EMPTY,
            ],
            Status.SAFE,
        )

    @cached_property
    def frame(self) -> Any:
        """The cells for publication: codes, value (missing where suppressed) and status."""
        import polars as pl

        name = self.original.variable or "count"
        value = pl.Series(name, self.published, nan_to_null=True)
        if self.original.integral and np.all(
            self.published[~self.suppressed] == np.round(self.published[~self.suppressed])
        ):
            value = value.cast(pl.Int64)
        made = beside_codes(self.original, {name: value, "status": self.status.astype(str)})
        return made.filter(pl.Series(self.listed))

    def split(self) -> dict[str, ProtectedTable]:
        """Return the tables that were linked, each as it is published."""
        from tacit.tables.link import split

        return split(self)

    def audit(self, **options: Any) -> Audit:
        """Attack the table as an intruder would and say whether every sensitive cell holds.

        See `tacit.tables.audit.audit` for the options.
        """
        from tacit.tables.audit import audit

        return audit(self, **options)

    def verify(self, **options: Any) -> Verification:
        """Check that the table keeps what its protection promises, before it is published."""
        from tacit.tables.verification import verify

        return verify(self, **options)

    def intervals(self, **options: Any) -> Any:
        """Return the intruder's interval of every suppressed cell, as a frame; stays inside."""
        return self.audit(**{"cells": "all", "early_stop": False, **options}).frame

    def summary(self) -> Summary:
        """Return cells, records and value per status; stays inside."""
        from tacit.tables.summary import summarise

        return summarise(self)

    # -- for readers ----------------------------------------------------------------------------

    @property
    def public(self) -> Any:
        """The cells for readers: codes, value, and ``c`` where none is published."""
        from tacit.tables.publication import public_frame

        return public_frame(self)

    def pivoted(self, columns: str | None = None) -> Any:
        """Return one dimension across and the others down, missing where suppressed."""
        from tacit.tables.publication import pivoted

        return pivoted(self, columns)

    def write_excel(self, path: Any, **options: Any) -> None:
        """Write a workbook to publish: the table, and a legend."""
        from tacit.tables.publication import write_excel

        write_excel(self, path, **options)
