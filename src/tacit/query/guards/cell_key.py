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
from tacit.query.model import Model
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
    change by whole numbers. A total is that of as many records as are published, and changes by a
    multiple of the largest contribution of a single unit; a mean is the total divided by that
    number. Weighted counts are changed before weighting. Missing values are left out of totals.
    Models are told as those of as many units as are published: the number of units, standard
    errors and sums of squares.

    A unit may be a household.

    Notes
    -----
    A secret function of the sums of record keys modulo :math:`2^{31}-1`, over the units *before*
    any are dropped, is the key that looks up the change e of a count n [fraser2006]_. A total T is
    released as :math:`T (n + e) / n + s \cdot \max_u |w_u y_u| \cdot z` with z standard normal from
    the key, within 4: its own noise alone would tell the number of units wherever values hardly
    vary, as years of birth do. Weights are such values, so that e of a weighted count has
    :math:`s z` added. By itself it does not stop averaging over many splits of a set; `ledger`
    bounds that.

    Examples
    --------
    >>> CellKeyNoise().key
    'cell-key'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = (
        "exact counts, also as the quotient of a total and a mean or in a standard error; "
        "differences within a table (D6), asking again (T7)"
    )
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
        """Return the context with noise on every cell, or on the sizes that a model tells."""
        if isinstance(context.evidence, Model):
            return self._on_model(context.evidence, context)
        cells = context.cells
        if cells is None:
            return context
        table, weighted = self._noise.noise_table, cells.weighted
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
        own = self.spread if weighted else 0.0
        changed = cells.with_(
            change=self._changes(cells.n, cells.keys, context, weighted),
            change_scale=float(np.hypot(np.sqrt(table.variance), own)),
            changes={
                name: self._changes(sums.n, sums.keys, context, weighted)
                for name, sums in cells.sums.items()
            },
            noise=noise,
            noise_scale=scale,
        )
        return context.amended(note, evidence=changed)

    def _changes(
        self, n: np.ndarray, keys: np.ndarray, context: Context, weighted: bool = False
    ) -> np.ndarray:
        """Return the change of each number of records, from the keys of its units."""
        drawn = context.sticky.numbers("cell key", keys)[:, 0]
        table = self._noise.noise_table
        change = table.changes(np.maximum(n, 0), drawn, modulus=MODULUS).astype(np.int64)
        if not weighted:
            return change
        z = np.clip(context.sticky.normal("mean weight", keys), -4.0, 4.0)
        return np.asarray(np.maximum(change + self.spread * z, -n))

    def _on_model(self, model: Model, context: Context) -> Context:
        """Change the number of units of a model, and that of each of its columns.

        The change is that of the universe, whatever records are incomplete: else every formula
        would have noise of its own on nearly the same number.
        """
        chosen = context.selection
        change = self._changes(np.array([chosen.units]), chosen.key_pair, context)
        drawn = [context.sticky.normal(f"size of {n}", chosen.key_pair)[0] for n in model.names]
        deviation = float(np.sqrt(self._noise.noise_table.variance))
        columns = deviation * np.clip(np.array(drawn), -4.0, 4.0)
        columns[0] = change[0]
        return context.amended(
            "the number of units, and those in standard errors, are changed a little",
            evidence=model.with_(size_change=int(change[0]), column_changes=columns),
        )

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
