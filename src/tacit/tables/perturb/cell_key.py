"""The cell key method for counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from tacit.core.errors import DataError, SchemaError, nearest
from tacit.core.method import Try
from tacit.tables._precision import Steps, decimals
from tacit.tables.perturb.noise_table import NoiseTable
from tacit.tables.perturb.record_keys import MODULUS
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table
from tacit.tables.transitions import Design, transition_matrix


class CellKey(
    Protection,
    key="cell-key",
    title="Cell key noise for counts",
    cites=("fraser2006", "giessing2011"),
):
    r"""Change every count by a little noise that is the same wherever the same units are counted.

    Record keys are added up over each cell; the sum decides the change. A cell of the same units
    gets the same value in every table, today and next year, on every engine, so nothing is gained
    by asking again. Tables are no longer additive; see `restore_additivity`. When not to use it:
    where totals must add up exactly (`M3A`, controlled rounding), for totals of a variable
    (`CellKeyMagnitude`), and where all margins of a small area are published: of a block of 48
    people an integer programme rebuilds four or five records in ten, guessing two (suppress small
    counts and zeros there).

    Missing values: those of the table. Weights: the unweighted count is changed and multiplied by
    the mean weight of the cell. Households: a unit may be one; then its members share a key.

    Notes
    -----
    With record keys :math:`r_u` and :math:`p = 2^{31}-1`, a cell :math:`c` of count :math:`i` has
    the key :math:`k_c = \sum_{u \in c} r_u \bmod p` and becomes the :math:`j` for which
    :math:`M_{i,j-1} \le k_c < M_{ij}`, :math:`M` being the cumulated transition matrix times
    :math:`p` [fraser2006]_, section 4 of [giessing2011]_. Keys are added up where the
    records are. Cells that must be published as they are (frozen) are; forced ones are left out.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> noisy = table.protect(tables.CellKey(max_change=3))
    >>> bool((abs(noisy.published - table.value) <= 3).all())
    True
    """

    keyed: ClassVar[bool] = True

    max_change: Annotated[int, Ge(1), Le(50), Try(3, 4, 5)] = 5
    """Largest change of a count, D."""
    variance: Annotated[float, Gt(0)] = 2.002
    """Variance of the change."""
    no_small_cells: bool = True
    """Whether counts of 1 and 2 are never published."""
    centre: Annotated[float, Gt(0), Le(1)] = 0.7
    """Largest probability that a count stays as it is."""
    design: Design = "centred"
    """Most probability on no change (centred), or noise of largest entropy (even)."""
    monotone: bool = True
    """Whether larger changes must be less probable."""
    noise: NoiseTable | None = None
    """A noise table of your own in place of the design, for example read from a file."""
    column: str | None = None
    """Column of record keys; by default the first that the table has."""
    modulus: Annotated[int, Ge(2), Le(2**31)] = MODULUS
    """What sums of keys are reduced by: 10**9 for fractions made whole, 256 for keys of ONS."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ = self.noise_table  # an impossible design is refused at once
        return self

    @cached_property
    def noise_table(self) -> NoiseTable:
        """The noise: what each count may become, and with what probability."""
        if self.noise is not None:
            return self.noise
        return _designed(
            self.max_change,
            self.variance,
            no_small_cells=self.no_small_cells,
            centre=self.centre,
            design=self.design,
            monotone=self.monotone,
        )

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with noise on every count, or refuse."""
        counts = _counts(table)
        keys = cell_keys(table.key_sums, self.column) % self.modulus
        change = self.noise_table.changes(counts, keys, modulus=self.modulus)
        new = counts + change
        if table.weighted_count is not None:
            mean_weight = np.divide(
                table.weighted_count, counts, out=np.zeros(len(counts)), where=counts > 0
            )
            new = new * mean_weight
        return perturbed(table, sensitive, new, self.describe(), self.public_note())

    def public_note(self) -> str:
        """Say what users may know: how large changes can be, and how they are distributed."""
        noise = self.noise_table
        small = noise.frame.filter(noise.frame["p"] > 0)["j"].is_in([1.0, 2.0]).any()
        return (
            f"{self.title}: every count may have been changed, by {noise.max_change:g} at most, up "
            f"or down; on average changes are 0, with a variance of {noise.variance:.3g}. The same "
            "cell has the same value in every table. Totals are changed on their own and may miss "
            "the sum of their parts. Counts of 0 stay 0, but a published 0 may have been a small "
            f"count.{'' if small else ' No count of 1 or 2 is published.'}"
        )


@lru_cache(maxsize=32)
def _designed(max_change: int, variance: float, **options: Any) -> NoiseTable:
    return NoiseTable.of_matrix(transition_matrix(max_change, variance, **options))


def _counts(table: Table) -> np.ndarray:
    if table.variable is not None:
        raise SchemaError(
            "noise for counts needs a table of counts",
            got=f"totals of {table.variable!r}",
            do="use CellKeyMagnitude",
        )
    if table.count is None:
        raise SchemaError(
            "the table does not know how many records each cell has",
            do="build it with tacit.tabulate",
        )
    return np.asarray(table.count, dtype=float)


def cell_keys(known: Mapping[str, np.ndarray], column: str | None) -> np.ndarray:
    """Return the sums of one column of record keys, or refuse a table without keys."""
    if not known:
        raise DataError(
            "the table has no record keys",
            do="make some with tables.with_record_keys and pass their names: tabulate(keys=...)",
        )
    if column is not None and column not in known:
        raise SchemaError(f"the table has no record keys {column!r}", do=nearest(column, known))
    return np.asarray(known[column or next(iter(known))])


def perturbed(
    table: Table, sensitive: Sensitive, new: np.ndarray, method: str, note: str
) -> ProtectedTable:
    """Return a table of changed values; frozen cells stay, forced ones are left out.

    All published cells bear the same status and have the decimals of the source: which were changed
    would give their values away. Sensitive cells are rounded away from their original.
    """
    places = decimals(table.value)
    if places is not None:
        steps = Steps(places)
        away = steps.away(table.value, new)
        new = steps.beside(table.value, np.where(sensitive.cells, away, new))
    published = np.where(table.flags("frozen"), table.value, new)
    published = np.where(table.flags("forced"), np.nan, published)
    return ProtectedTable(
        table,
        sensitive,
        published,
        method,
        {"public note": note, "additive": False},
        hides_changes=True,
    )
