"""Rounding of small counts, with totals that stay close."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.errors import DataError, ProtectionError
from tacit.core.progress import track
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

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
        leaves = np.flatnonzero(~table.is_total)
        original = table.value[leaves]
        rounded = original.copy()
        small = (original > 0) & (original < self.base)
        sums = _sums(table, leaves)
        if small.any():
            rounded[small] = _rounded(sums, original, small, self.base, self.sweeps)
        published = table.value + np.asarray(sums @ (rounded - original))
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
        if table.frozen is not None:
            fixed = table.frozen & ~table.is_total & (table.value > 0) & (table.value < self.base)
            if fixed.any():
                raise ProtectionError(
                    "small counts must be published as they are",
                    got=table.describe(np.flatnonzero(fixed)),
                )


def _sums(table: Table, leaves: np.ndarray) -> Any:
    """Return which finest cells each cell sums: cells by finest cells."""
    from scipy.sparse import csr_array, kron

    if not table.dimensions:
        raise DataError("rounding of small counts needs the dimensions of the table")
    whole = csr_array(np.ones((1, 1)))
    for dimension in table.dimensions:
        whole = csr_array(kron(whole, dimension.contains, format="csr"))
    sizes = [len(d.codes) for d in table.dimensions]
    rows = np.ravel_multi_index(tuple(table.codes.T), sizes)
    place = [{d.index[leaf]: j for j, leaf in enumerate(d.leaves)} for d in table.dimensions]
    columns = [
        np.array([place[axis][int(code)] for code in table.codes[leaves, axis]])
        for axis in range(len(sizes))
    ]
    at = np.ravel_multi_index(tuple(columns), [len(d.leaves) for d in table.dimensions])
    return csr_array(whole[rows][:, at])


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
