"""Rounding of small counts, with totals that stay close."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.errors import DataError, ProtectionError
from tacit.core.progress import track
from tacit.tables._changeable import check_changeable
from tacit.tables._free_leaves import leaves_of
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.rounding._base import check_frozen
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

_DO = "round the table of all dimensions, and take the others from it; or round in a controlled way"
_TRIES = 12
"""Partners tried for each leaf when two change at once."""


class SmallCountRounding(
    Protection,
    key="round-small-counts",
    title="Rounding of small counts",
    cites=("langsrud2018",),
):
    r"""Round the small counts among the finest cells so that all published sums stay close.

    Each small count of a finest cell becomes zero or the base; larger ones stay. Sums are those of
    the rounded cells, so the table adds up, no published count lies between zero and the base, and
    the choice up or down keeps the sums as near to the original as the search can manage. When not
    to use it: for totals of a variable, or where large counts are sensitive too.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    With :math:`A` the sums of finest cells :math:`y`, choose :math:`z_j \in \{0, b\}` for
    :math:`0 < y_j < b` and :math:`z_j = y_j` otherwise so that :math:`\|A(z - y)\|^2` is small, the
    criterion of [langsrud2018]_; by coordinate descent, one cell and then two at a time.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.SmallCountRounding(base=3).base
    3
    """

    base: Annotated[int, Ge(2)] = 3
    """Smallest count that is published beside zero."""
    sweeps: Annotated[int, Ge(0)] = 12
    """Passes over the small counts; more bring the sums nearer."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the rounded table, or refuse if a sensitive cell is not a small count."""
        self._check(table, sensitive)
        leaves = leaves_of(table, "rounding of small counts", _DO)
        original, sums = table.value[leaves.at], leaves.sums
        rounded = original.copy()
        small = (original > 0) & (original < self.base)
        if small.any():
            rounded[small] = _rounded(sums, original, small, self.base, self.sweeps)
        published = table.value + np.asarray(sums @ (rounded - original))
        check_frozen(table, published)
        deviation = np.abs(published - table.value)
        notes = {
            "base": self.base,
            "additive": True,
            "rounded": int(small.sum()),
            "mean_deviation": float(deviation.mean()) if deviation.size else 0.0,
            "largest_change": float(deviation.max(initial=0.0)),
        }
        return ProtectedTable(table, sensitive, published, self.describe(), notes)

    def _check(self, table: Table, sensitive: Sensitive) -> None:
        check_changeable(table)
        if not table.is_count or not table.integral or table.value.min(initial=0) < 0:
            raise DataError("rounding of small counts is for tables of counts", got=repr(table))
        table.check_additive()
        large = np.flatnonzero(sensitive.cells & (table.value >= self.base))
        if len(large):
            raise ProtectionError(
                "sensitive counts of at least the base would be published as they are",
                got=table.describe(large),
                do="raise the base, or choose another protection",
            )
        deep = np.flatnonzero(_needed(sensitive) > self.base - 1)
        if len(deep):
            raise ProtectionError(
                "sensitive counts need more protection than rounding to the base gives",
                got=f"{table.describe(deep)}, base {self.base}",
                do="raise the base",
            )


def _needed(sensitive: Sensitive) -> np.ndarray:
    """Return by how much an estimate must be able to miss each sensitive count."""
    levels = np.max([sensitive.below, sensitive.above, sensitive.width], axis=0)
    return np.where(sensitive.cells, levels, 0.0)


def _rounded(
    sums: Any, original: np.ndarray, small: np.ndarray, base: int, sweeps: int
) -> np.ndarray:
    """Return the small counts rounded to zero or the base."""
    from tacit.tables.rounding import _small_counts_kernel as kernel

    chosen = sums[:, np.flatnonzero(small)].tocsc()
    start, member = chosen.indptr.astype(np.int64), chosen.indices.astype(np.int64)
    value: np.ndarray = original[small].copy()
    deviation, weight = np.zeros(sums.shape[0]), np.ones(sums.shape[0])
    rng = np.random.default_rng(0)
    fixed = (start, member, value)
    with track("rounding small counts", sweeps + 1) as advance:
        order = rng.permutation(len(value))
        kernel.descend(*fixed, original, float(base), deviation, weight, order, True)
        advance(1)
        for _ in range(sweeps):
            order = rng.permutation(len(value))
            changed = kernel.descend(*fixed, original, float(base), deviation, weight, order, False)
            picks = rng.integers(0, len(value), (len(value), _TRIES))
            changed += kernel.swap(*fixed, float(base), deviation, weight, order, _TRIES, picks)
            advance(1)
            if not changed:
                break
    return value
