"""Controlled rounding."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.errors import ProtectionError
from tacit.tables.protected import ProtectedTable
from tacit.tables.rounding._base import Rounding, check_frozen, split_by_base
from tacit.tables.rounding._controlled_search import Rounded, round_relations
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class ControlledRounding(
    Rounding,
    key="round-controlled",
    title="Controlled rounding",
    cites=("salazar2006", "cox1987", "matias2013"),
):
    r"""Round every cell to a multiple of a base so that all sums still hold.

    The nearest such table is sought. By default a cell becomes one of its two neighbouring
    multiples and a multiple stays (zero-restricted); where no such table adds up, more steps can
    be allowed. When not to use it: for tables of very different magnitudes with one base, which
    blurs the small cells and hardly touches the large ones.

    Warning for totals of a variable: the base is the largest level that the rule asks for, but the
    rounded total of a single cell may still be nearer to its largest contributor than the rule
    allows; in census data it is in about a third of the sensitive cells. Suppress instead, or use
    `CellKeyMagnitude`.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    With :math:`q_i = \lfloor x_i / b \rfloor`, whole :math:`z_i` minimise
    :math:`\sum_i |x_i - b z_i|` subject to :math:`R z = 0` and :math:`q_i \le z_i \le q_i + 1`, an
    integer programme solved on HiGHS [salazar2006]_. Tables of two dimensions always have a
    solution [cox1987]_; others may have none. Large tables are searched over their finest cells,
    all others being their sums: sums beyond their bounds are mended one by one, units exchanged
    under falling heat, and neighbouring cells chosen anew by small integer programmes until the
    time is up. Linked tables are always solved at once.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.ControlledRounding(base=5, steps=1).steps
    1
    """

    steps: Annotated[int, Ge(0)] = 0
    """How many bases further than its two neighbouring multiples a cell may go."""
    keep_multiples: bool = True
    """Whether a cell that is a multiple of the base stays as it is."""
    block: Annotated[int, Ge(1)] = 20_000
    """Tables with more cells than this are searched block by block; no optimum is proven then."""
    seconds: Annotated[float, Gt(0)] = 300.0
    """Time limit; the best table found by then is returned."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the nearest additive table of multiples, or refuse if there is none."""
        base = self.base_for(table, sensitive)
        table.check_additive()
        whole, rest = split_by_base(table.value, base)
        exact = rest == 0
        # A multiple may move one base either way where it need not stay.
        free = (~exact).astype(float) if self.keep_multiples else np.ones(table.n_cells)
        low = whole - self.steps * free - (exact & (free > 0))
        high = whole + free + self.steps * free
        low = np.where((table.value >= 0) & (low < 0), 0.0, low)
        if table.frozen is not None:
            low, high = _held(table, exact, whole, low, high)
        found = round_relations(table, table.value / base, low, high, self.block, self.seconds)
        found = _checked(table, found, base, self.seconds)
        if np.any(table.relations @ found.units):
            raise ProtectionError("the solver's multiples do not add up", do="allow more time")
        published = found.units * base
        check_frozen(table, published)
        distance = float(np.abs(published - table.value).sum())
        notes = {
            "base": base,
            "within": base * (1 + self.steps),
            "additive": True,
            "distance": distance,
            "largest_change": float(np.abs(published - table.value).max(initial=0.0)),
            "optimal": found.optimal,
            "in blocks": found.in_blocks,
            "seconds": found.seconds,
        }
        return ProtectedTable(table, sensitive, published, self.describe(), notes)


def _checked(table: Table, found: Rounded | None, base: float, seconds: float) -> Rounded:
    """Refuse where nothing was found, or only a table that goes further than allowed."""
    if found is not None and not found.n_missed:
        return found
    most = f"; {found.n_missed:,} cells went too far in {seconds:g} s" if found else ""
    raise ProtectionError(
        "no table of these multiples that adds up was found",
        got=f"base {base:g}, {table.n_cells:,} cells{most}",
        do="allow more steps (steps=1), more seconds, or free the multiples (keep_multiples=False)",
    )


def _held(
    table: Table, exact: np.ndarray, whole: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fix the cells that must be published as they are; others than multiples cannot be."""
    if table.frozen is None:
        return low, high
    check_frozen(table, np.where(table.frozen & ~exact, np.nan, table.value))
    return np.where(table.frozen, whole, low), np.where(table.frozen, whole, high)
