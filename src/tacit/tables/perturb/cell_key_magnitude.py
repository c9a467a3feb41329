"""The cell key method for totals."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from tacit.core.errors import SchemaError
from tacit.core.method import Try
from tacit.tables.perturb.cell_key import cell_keys, perturbed
from tacit.tables.perturb.noise_table import NoiseTable, magnitude_noise
from tacit.tables.perturb.record_keys import MODULUS
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

Basis = Literal["largest", "mean", "value"]
"""What noise is scaled to: the largest contributions, the mean contribution, or the total."""


class CellKeyMagnitude(
    Protection,
    key="cell-key-magnitude",
    title="Cell key noise for totals",
    cites=("giessing2019", "fraser2006"),
):
    r"""Change every total by noise scaled to its largest contributions, alike wherever it appears.

    A cell with one dominant contributor gets noise of a share of that contribution; a cell of many
    small ones hardly moves. The noise is decided by the cell key, so the same cell has the same
    value in every table and on every engine, so long as the same rule says what is sensitive. When
    not to use it: where totals must add up.

    Missing values: those of the table. Weights: weighted contributions are hidden. Households: a
    respondent may be one.

    Notes
    -----
    With the :math:`k` largest contributions :math:`x_1 \ge \dots \ge x_k`, weights
    :math:`\varepsilon_1 \ge \dots \ge \varepsilon_k` and the share :math:`m(x)`,

    .. math:: x' = x + \sum_{j=1}^{k} \varepsilon_j\, m(x_j)\, x_j\, v_j,

    :math:`v_j` drawn from a noise table at the cell key [giessing2019]_. Up to `flexpoint`,
    :math:`m(x) = p_s`; beyond, with :math:`z` the flexpoint, it falls towards :math:`p_l`:

    .. math:: m(x) = p_l \left(1 + \frac{p_s x - p_l z}{p_l z}
       \left(\frac{2z}{z + x}\right)^{q}\right).

    In sensitive cells :math:`v_1` moves away from zero by `extra`, 0.5 by default: with a share of
    0.25 such a total misses the truth by at least 12.5 % of its largest contribution. Without it a
    fifth of them would not change at all. Contributions below the separation point
    :math:`\sigma / (p_s \sqrt{\sum_j \varepsilon_j^2})` get the noise of a small count instead, of
    standard deviation :math:`\sigma`. The row of the noise table is what is left of the total in
    units of the noise, so a total never changes sign and a zero stays zero. Each :math:`v_j` has a
    key of its own: a one-way function of *all* key columns, the variable and :math:`j`, because a
    known total would otherwise give away the key, and with it the noise of the count. Keys are
    added up over the records that contribute.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region"], "income", weights=None, keys=["rk1", "rk2"])
    >>> noisy = table.protect(tables.CellKeyMagnitude(largest=2, shares=(1.0, 0.5)))
    >>> bool((noisy.published >= 0).all())
    True
    """

    keyed: ClassVar[bool] = True

    basis: Basis = "largest"
    """What noise is scaled to: the largest contributions, the mean one, or the total itself."""
    largest: Annotated[int, Ge(1), Le(6)] = 1
    """How many of the largest contributions are hidden."""
    shares: tuple[float, ...] = (1.0,)
    """Relative size of the noise for each of them, 1 for the first, never rising."""
    small_share: Annotated[float, Gt(0), Le(1), Try(0.1, 0.2, 0.3)] = 0.25
    """Size of the noise as a share of a contribution, up to the flexpoint."""
    large_share: Annotated[float, Gt(0), Le(1)] = 0.05
    """Share that the noise falls to for very large contributions."""
    flexpoint: Annotated[float, Gt(0)] | None = None
    """Contribution from which the share falls; nothing keeps it at its size for small ones."""
    steepness: Annotated[float, Ge(1)] = 3.0
    """How fast the share falls beyond the flexpoint, q."""
    extra: Annotated[float, Ge(0)] = 0.5
    """Noise added to the first component of sensitive cells, in units of the noise: none of them
    is published as it is."""
    noise: NoiseTable | None = None
    """Noise of totals; by default changes up to 5 units with variance 1."""
    odd_noise: NoiseTable | None = None
    """Noise of totals of an odd number of contributors, for one contribution only."""
    small_noise: NoiseTable | None = None
    """Noise of contributions below the separation point, in the unit of the variable."""
    include_zeros: bool = False
    """Whether records that contribute nothing take part in the key."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        shares = self.shares
        if len(shares) != (self.largest if self.basis == "largest" else 1):
            raise ValueError("needs one relative size for each contribution that is hidden")
        if shares[0] != 1 or min(shares) < 0 or any(np.diff(shares) > 0):
            raise ValueError("relative sizes begin with 1 and never rise")
        if self.large_share > self.small_share:
            raise ValueError("the share of large contributions must not exceed that of small ones")
        if self.odd_noise is not None and len(shares) > 1:
            raise ValueError("parity goes with one contribution only")
        return self

    @property
    def depth(self) -> int:
        """The contributions that are hidden."""
        return self.largest if self.basis == "largest" else 1

    @cached_property
    def noise_table(self) -> NoiseTable:
        """The noise in units of what is to be hidden."""
        return magnitude_noise() if self.noise is None else self.noise

    @property
    def separation(self) -> float:
        """Contributions below this get the noise of small cells; 0 without separation."""
        if self.small_noise is None:
            return 0.0
        spread = float(np.sqrt(sum(share**2 for share in self.shares)))
        return float(np.sqrt(self.small_noise.variance)) / (self.small_share * spread)

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with noise on every total, or refuse."""
        sizes = self._sizes(table)
        keys = _derived_keys(table, len(self.shares), self.include_zeros)
        total = np.array(table.value, dtype=float)
        for j, share in enumerate(self.shares):
            total = total + self._component(table, sensitive, total, sizes[:, j], share, keys[j], j)
        made = perturbed(table, sensitive, total, self.describe(), self.public_note())
        weak = len(table.key_sums) < 2
        warning = {"warning": "one column of keys can be found by trial; use two"} if weak else {}
        return replace(made, notes={**made.notes, **warning})

    def _sizes(self, table: Table) -> np.ndarray:
        """Return what the noise of each cell is scaled to, cells by components."""
        if table.variable is None or table.respondents is None:
            raise SchemaError(
                "noise for totals needs a table of totals with their largest contributions",
                do="build it with tacit.tabulate(value=...), or use CellKey for counts",
            )
        known = table.respondents
        if self.basis == "value":
            return np.asarray(np.abs(table.value)[:, None])
        if self.basis == "mean":
            return np.asarray((known.absolute / np.maximum(known.n_units, 1))[:, None])
        if known.depth < self.largest:
            raise SchemaError(
                "the table knows too few of the largest contributions",
                got=f"{known.depth}, {self.largest} needed",
                do=f"build it with top={self.largest}",
            )
        weight = 1.0 if known.weight is None else known.weight[:, : self.largest]
        return np.asarray(np.abs(known.top[:, : self.largest]) * weight)

    def _share_of(self, size: np.ndarray) -> np.ndarray:
        """Return the noise as a share of a contribution."""
        small, large, z = self.small_share, self.large_share, self.flexpoint
        if z is None:
            return np.full(len(size), small)
        falling = (2 * z / (z + size)) ** self.steepness
        beyond = large * (1 + (small * size - large * z) / (large * z) * falling)
        return np.where(size < z, small, beyond)

    def _component(
        self,
        table: Table,
        sensitive: Sensitive,
        total: np.ndarray,
        size: np.ndarray,
        share: float,
        keys: np.ndarray,
        place: int,
    ) -> np.ndarray:
        """Return the noise of one contribution of each cell."""
        unit = np.minimum(share * self._share_of(size) * size, np.abs(total))
        tiny = (size < self.separation) & (size > 0)
        if tiny.any():
            unit = np.where(tiny, 1.0 if place == 0 else 0.0, unit)
        left = np.divide(np.abs(total), unit, out=np.zeros(len(unit)), where=unit > 0)
        drawn = self.noise_table.between_rows(left, keys, modulus=MODULUS)
        if self.odd_noise is not None and table.respondents is not None:
            odd = table.respondents.n_units % 2 == 1
            drawn = np.where(odd, self.odd_noise.between_rows(left, keys, modulus=MODULUS), drawn)
        if self.small_noise is not None:
            small = self.small_noise.between_rows(left, keys, modulus=MODULUS)
            drawn = np.where(tiny, small, drawn)
        if place == 0 and self.extra:
            # Where no noise was drawn, the key says on which side the extra goes.
            side = np.where(drawn == 0, np.where(keys % 2 == 0, 1.0, -1.0), np.sign(drawn))
            drawn = drawn + np.where(sensitive.cells, side * self.extra, 0.0)
        return np.asarray(np.sign(total) * unit * np.maximum(drawn, -left))

    def public_note(self) -> str:
        """Say what users may know."""
        return (
            f"{self.title}: every total was changed by noise that depends on its contributions and "
            "is 0 on average; totals of many alike contributors hardly changed. The same cell has "
            "the same value in every table. Totals may miss the sum of their parts."
        )


def _derived_keys(table: Table, n_components: int, include_zeros: bool) -> list[np.ndarray]:
    """Return a key per component: a one-way function of all key columns, variable and place."""
    import hashlib

    from tacit.tables.perturb._aes import BLOCK, encrypted, halves

    sums = table.key_sums if include_zeros else table.value_key_sums
    cell_keys(sums, None)
    columns = [np.asarray(keys) % MODULUS for keys in list(sums.values())[:2]]
    blocks = np.zeros((table.n_cells, BLOCK), dtype=np.uint8)
    for j, keys in enumerate(columns):
        blocks[:, 8 * j : 8 * j + 8] = keys.astype("<u8").view(np.uint8).reshape(-1, 8)
    made = []
    for place in range(n_components):
        purpose = hashlib.sha256(f"tacit cell key {place} {table.variable}".encode()).digest()
        made.append(halves(encrypted(purpose, blocks), MODULUS)[:, 0])
    return made
