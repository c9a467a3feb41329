"""The check before a table goes out: whether it keeps what its protection promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, ProtectionError
from tacit.tables._promises import estimated_too_well, inside_their_intervals
from tacit.tables.protected import ProtectedTable
from tacit.tables.sensitive import Sensitive

if TYPE_CHECKING:
    from tacit.tables.audit import Audit

_SLACK = 1e-6
"""Share of a value (of 1 when smaller) by which a number may miss its promise."""


@dataclass(frozen=True, eq=False)
class Verification:
    """Whether a protected table may go out, and how that was found out."""

    passed: bool
    """Whether it may."""
    how: str
    """What was checked, in words."""
    faults: tuple[str, ...] = ()
    """What is wrong."""
    audit: Audit | None = None
    """The attack, where cells are suppressed or rounded."""
    cautions: tuple[str, ...] = ()
    """What is no fault, and may not be what was meant."""

    def summary(self) -> str:
        """Say the outcome in a few lines."""
        head = f"{'Passed' if self.passed else 'NOT PASSED'}: {self.how}"
        found = [] if self.audit is None else [self.audit.summary()]
        return "\n".join([head, *self.faults, *found])

    def require(self) -> None:
        """Refuse a table that did not pass.

        Raises
        ------
        ProtectionError
            With the first fault.
        """
        if not self.passed:
            raise ProtectionError(
                "the protected table did not pass its check, so it is not published",
                got=self.faults[0],
            )


def verify(protected: ProtectedTable, **options: Any) -> Verification:
    """Check a protected table before it is published.

    Cells that must be published or suppressed are, claimed sums hold, and an attack is made
    wherever one says something: on suppressed cells over all relations, on rounded tables through
    the interval that each published multiple leaves. Where cells were moved (controlled
    adjustment, M3A) every sensitive cell is looked at again, from the original and the published
    values alone: outside its interval, or in its safe set. Of tables with noise it is checked that
    they keep what they claim.

    Parameters
    ----------
    protected
        The table.
    options
        Options of the attack, see `tacit.tables.audit`.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNSSEE"), "x": [90, 1, 20, 25, 30, 33]})
    >>> table = tacit.tabulate(frame, "region", "x")
    >>> made = table.protect(tables.SuppressModular(), tables.Dominance(n=1, k=80))
    >>> verify(made).passed
    True
    """
    faults = list(_broken_wishes(protected))
    if not _changes(protected):
        return _attacked(protected, faults, "an attack on every sensitive cell", **options)
    faults += _broken_sums(protected)
    within = protected.notes.get("within")
    if within is not None and not protected.hides_changes:
        faults += _too_far(protected, float(within))
        how = "an attack through the rounding interval of every cell"
        if faults:  # false claims are nothing to attack through
            return Verification(passed=False, how=how, faults=tuple(faults))
        return _attacked(_as_intervals(protected, float(within)), faults, how, **options)
    how, moved = _moved_cells(protected)
    faults += moved
    return Verification(not faults, how, tuple(faults))


def _moved_cells(protected: ProtectedTable) -> tuple[str, list[str]]:
    """Say how sensitive cells that were moved are checked, and which of them fail."""
    promised = protected.notes.get("moved cells")
    table = protected.original
    if promised is None:
        return "the sums and flags that the protection promises, not its noise", []
    if promised == "outside intervals":
        how, wrong = "every sensitive cell against its interval", inside_their_intervals(protected)
        what = "sensitive cells lie within their protection intervals"
    else:
        how = "every sensitive cell against what its respondents could work out"
        wrong, what = estimated_too_well(protected, promised), "published totals tell contributions"
    return how, [f"{what}: {table.describe(wrong)}"] if len(wrong) else []


def _changes(protected: ProtectedTable) -> bool:
    """Say whether the protection is of a kind that changes values."""
    return protected.hides_changes or "additive" in protected.notes


def _broken_wishes(protected: ProtectedTable) -> Iterator[str]:
    table, hidden = protected.original, protected.suppressed
    moved = hidden | protected.changed
    for cells, what in (
        (table.flags("frozen") & moved, "cells that must be published as they are were not"),
        (table.flags("forced") & ~hidden, "cells that must be suppressed are published"),
        (np.isinf(protected.published), "cells are published as infinite"),
    ):
        if cells.any():
            yield f"{what}: {table.describe(np.flatnonzero(cells))}"


def _broken_sums(protected: ProtectedTable) -> list[str]:
    """Return what is wrong with the sums, where the protection claims that they hold."""
    if not protected.notes.get("additive") or protected.suppressed.any():
        return []
    try:
        protected.original.replace(value=protected.published).check_additive()
    except DataError as error:
        return [str(error)]
    return []


def _too_far(protected: ProtectedTable, within: float) -> list[str]:
    value = protected.original.value
    slack = _SLACK * np.maximum(np.abs(value), 1.0)
    far = np.abs(protected.published - value) > within + slack
    if not far.any():
        return []
    cells = protected.original.describe(np.flatnonzero(far))
    return [f"cells moved by more than {within:g}, which users are told: {cells}"]


def _as_intervals(protected: ProtectedTable, within: float) -> ProtectedTable:
    """Return the table with what users can derive: a value lies near the multiple published.

    Rounding promises a width, the largest level of each cell, not how it lies around the value.
    """
    found = protected.sensitive
    nothing = np.zeros(len(found.cells))
    width = np.maximum(np.maximum(found.below, found.above), found.width)
    sliding = Sensitive(found.cells, nothing, nothing, width, found.hits)
    claim = (protected.published - within, protected.published + within)
    return replace(protected, sensitive=sliding, notes={**protected.notes, "intervals": claim})


def _attacked(
    protected: ProtectedTable, faults: list[str], how: str, **options: Any
) -> Verification:
    from tacit.tables.audit import audit

    found = audit(protected, **options)
    if not len(protected.sensitive):
        how = "no cell is sensitive, so there was none to attack"
    if not found.passed:
        table = protected.original
        named = table.describe(found.failed) if len(found.failed) else "sums that were asked for"
        faults = [*faults, f"cells can be worked out too closely: {named}"]
    return Verification(not faults, how, tuple(faults), found, tuple(_open_again(protected)))


def _open_again(protected: ProtectedTable) -> Iterator[str]:
    """Name cells that were to be suppressed and follow from what is published."""
    from tacit.tables.audit import audit

    table = protected.original
    forced = table.flags("forced") & protected.suppressed & ~protected.sensitive.cells
    if not forced.any():
        return
    as_sensitive = replace(protected, sensitive=Sensitive.by("must be suppressed", forced, 0.0))
    told = audit(as_sensitive, singletons=False).failed
    if len(told):
        yield (
            f"{len(told):,} of {forced.sum():,} cells that must be suppressed, but were not "
            f"declared unsafe, can be worked out from the others: {table.describe(told)}. "
            "Declare them unsafe if they are to be protected."
        )
