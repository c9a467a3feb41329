"""Random rounding."""

from __future__ import annotations

from tacit.core.rng import fresh_seed, step_generator
from tacit.tables.protected import ProtectedTable
from tacit.tables.rounding._base import Rounding, check_frozen, split_by_base
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class RandomRounding(
    Rounding, key="round-random", title="Random rounding", cites=("matias2013", "willenborg2001")
):
    r"""Round every cell up or down by lot, so that its expectation is the original.

    When not to use it: where the same cell is published several times with different seeds, since
    the average tells the original; use cell keys instead.

    Warning for totals of a variable: the base is the largest level that the rule asks for, but the
    rounded total of a single cell may still be nearer to its largest contributor than the rule
    allows; in census data it is in about a third of the sensitive cells. Suppress instead, or use
    `CellKeyMagnitude`.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    With :math:`x = (q + r) b`, :math:`q` whole and :math:`0 \le r < 1`, the cell becomes
    :math:`(q+1) b` with probability :math:`r` and :math:`q b` otherwise, Eq. (2) of [matias2013]_.
    Multiples of the base, zeros among them, stay. An intruder learns that the cell lies within one
    base of what is published.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.RandomRounding(base=5, seed=3).seed
    3
    """

    seed: int | None = None
    """Seed of the lots; secret. Drawn afresh unless given, and kept in the notes."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the rounded table; every cell is unbiased."""
        base = self.base_for(table, sensitive)
        whole, rest = split_by_base(table.value, base)
        seed = fresh_seed() if self.seed is None else self.seed
        lots = step_generator(seed, 0).random(table.n_cells)
        published = (whole + (lots < rest)) * base
        check_frozen(table, published)
        notes = {"base": base, "within": base, "additive": False, "seed": seed}
        method = self.replace(seed=None).describe()
        return ProtectedTable(table, sensitive, published, method, notes)
