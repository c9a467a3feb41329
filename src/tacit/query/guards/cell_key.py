"""Cell key noise on counts and totals."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.tables.perturb.cell_key import CellKey
from tacit.tables.perturb.record_keys import MODULUS
from tacit.tables.transitions import Design


class CellKeyNoise(
    Guard,
    key="cell-key",
    title="Cell key noise",
    cites=("fraser2006", "giessing2011"),
):
    r"""Change every count and total by noise that depends on the units of the cell alone.

    The same units give the same noise in every table and however they were described. Counts
    change by whole numbers, totals by a multiple of the largest contribution of a single unit.
    Weighted counts are changed before weighting. Missing values are left out of totals.

    A unit may be a household.

    Notes
    -----
    A secret function of the sums of record keys modulo :math:`2^{31}-1`, over the units *before*
    any are dropped, is the key that looks up the change of a count [fraser2006]_. A total gets
    :math:`s \cdot \max_u |w_u y_u| \cdot z` with z standard normal from the key, within 4. By
    itself it does not stop averaging over many splits of a set; `ledger` bounds that.

    Examples
    --------
    >>> CellKeyNoise().key
    'cell-key'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "exact counts, differences within a table (D6), asking again (T7)"
    misses: ClassVar[str] = "averaging without `ledger`"
    costs: ClassVar[str] = "noise on every cell; totals do not add up"
    max_change: Annotated[int, Ge(1), Le(50)] = 8
    """Largest change of a count."""
    variance: Annotated[float, Gt(0)] = 5.0
    """Variance of the change of a count."""
    no_small_cells: bool = True
    """Whether counts of 1 and 2 are never released."""
    design: Design = "even"
    """Noise of largest entropy (even), or most probability on no change (centred)."""
    spread: Annotated[float, Ge(0)] = 1.0
    """Standard deviation of the noise on totals, in largest contributions."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ = self._noise
        return self

    @cached_property
    def _noise(self) -> CellKey:
        return CellKey(
            max_change=self.max_change,
            variance=self.variance,
            no_small_cells=self.no_small_cells,
            design=self.design,
        )

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with noise on every cell; models have guards of their own."""
        cells = context.cells
        if cells is None:
            return context
        keys = context.sticky.numbers("cell key", cells.keys)[:, 0]
        table = self._noise.noise_table
        change = table.changes(np.maximum(cells.n, 0), keys, modulus=MODULUS)
        noise, scale = dict(cells.noise), dict(cells.noise_scale)
        for name in cells.sums:
            for statistic, (size, drawn) in self._on_totals(cells, name, context).items():
                noise[statistic], scale[statistic] = drawn, size
        note = (
            f"Counts were changed by at most {table.max_change:g} (variance {table.variance:.3g}); "
            "the same units always have the same change, and totals need not add up."
        )
        if cells.sums:
            note += " Totals were changed by about the largest contribution of one unit."
        changed = cells.with_(
            change=change.astype(np.int64),
            change_scale=float(np.sqrt(table.variance)),
            noise=noise,
            noise_scale=scale,
        )
        return context.amended(note, evidence=changed)

    def _on_totals(
        self, cells: Cells, name: str, context: Context
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the size of the noise and the noise, for the sum of values and of squares."""
        sums, made = cells.sums[name], {}
        sizes = {name: sums.largest_weighted, squares(name): sums.largest_weighted * sums.top[:, 0]}
        for statistic, largest in sizes.items():
            z = context.sticky.normal(f"total {statistic}", cells.keys)
            made[statistic] = (self.spread * largest, self.spread * largest * np.clip(z, -4.0, 4.0))
        return made


def squares(name: str) -> str:
    """Return the name under which noise on sums of squares is kept."""
    return f"{name} squared"
