"""Synthetic records from a log-linear model of the table of all categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.knowledge import Knowledge
from tacit.core.method import Columns
from tacit.mask.restore_rules import restored
from tacit.mask.synthesis.edits import Edits, compared
from tacit.mask.synthesis.originals import (
    Originals,
    check_none_came_back,
    forbidden_records,
    without_originals,
)
from tacit.mask.synthesis.rules import Combination, named_columns
from tacit.mask.synthesis.table_model import Categories, counted_table, drawn_cells, fitted_table


class LogLinearSynthesis(
    Mask,
    key="log-linear-synthesis",
    title="Synthetic data (log-linear model)",
    cites=("deming1940", "nowok2016"),
    example={"columns": ["sex", "education", "marital", "occupation"]},
):
    r"""Draw categorical records from a table that has the margins of the original.

    The margins are kept in expectation, and nothing else is learnt; records with a rare category
    do not count. Only the columns named are released. When not to use it: with many or
    fine categories, whose table is too large, or where relations of more variables than the
    margins hold matter.

    Missing values: are a category. Weights, households: not used, not released unless named.

    Notes
    -----
    The table :math:`\mu` of the model with the interactions of `margins` is fitted by iterative
    proportional fitting [deming1940]_: it is scaled to each margin of the original in turn until
    all agree. Cells of `impossible` combinations, and with ``keep_zeros=True`` all cells that are
    empty in the original, start and stay at zero. Records are drawn with :math:`\mu / n`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> plan = tacit.Plan([mask.LogLinearSynthesis(columns=["sex", "marital", "employed"])])
    >>> plan.apply(tacit.datasets.census(300), seed=1).frame.columns
    ['sex', 'marital', 'employed']
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    columns: Columns
    """Categories, or numbers with few values; all other columns are left out."""
    margins: tuple[Columns, ...] | None = None
    """Sets of columns whose tables are kept; by default all pairs."""
    keep_zeros: bool = False
    """Whether combinations that nobody has stay impossible."""
    impossible: tuple[Combination, ...] = ()
    """Combinations that cannot be (structural zeros): ``{"sex": "male", "pregnant": True}``, or
    conditions: ``[{"column": "age", "comparison": "<", "value": 16}, ...]``."""
    common_category: Annotated[int, Ge(1)] = 2
    """Categories that fewer people or households have are not drawn at all; 1 draws all."""
    m: Annotated[int, Ge(1)] = 1
    """Number of data sets in the release."""
    size: Annotated[int, Ge(1)] | None = None
    """Records to draw; by default as many as there are."""
    originals: Originals = "allowed"
    """Whether a drawn record may equal an original one."""
    originals_on: Columns | None = None
    """Columns to compare for `originals`, keys for instance: with ``originals="no-uniques"`` no
    unique person's keys are replicated. By default all but the weight."""

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in the release."""
        return self.m

    @property
    def combining(self) -> str:
        """Rule of ``tacit.inference`` for the data sets."""
        return "simple"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return synthetic records."""
        data.schema.require([*self.columns, *(c for margin in self.margins or () for c in margin)])
        if data.n_records == 0:
            raise DataError("there is no record to learn from")
        categories = Categories.of(data, self.columns)
        observed = counted_table(categories.common_codes(self.common_category), categories.shape)
        start = (observed > 0).astype(np.float64) if self.keep_zeros else np.ones_like(observed)
        edits = self._edits(categories)
        for combination in self.impossible:
            start[self._cells(categories, combination)] = 0.0
        table = fitted_table(start, [(axes, _margin(observed, axes)) for axes in self._axes()])
        kept = data.drop([c for c in data.columns if c not in self.columns])

        def draw(n: int) -> tuple[Any, np.ndarray]:
            made = released(kept, categories.decoded(drawn_cells(table, n, rng)))
            return restored(made).data.local, np.arange(n)

        forbidden = forbidden_records(kept, self.originals, self.originals_on or self.columns)
        made, _ = without_originals(
            draw, self.size or data.n_records, forbidden, edits.impossible_rows
        )
        return replace(kept._holding(made, kept.schema), knowledge=Knowledge())

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse records that other steps have made equal to original ones."""
        columns = self.originals_on or self.columns
        check_none_came_back(original, released, self.originals, columns)

    def _axes(self) -> list[tuple[int, ...]]:
        place = {name: j for j, name in enumerate(self.columns)}
        if self.margins is None:
            order = min(2, len(place))
            return list(combinations(range(len(place)), order))
        foreign = [c for margin in self.margins for c in margin if c not in place]
        if foreign:
            raise DataError(f"a margin names {foreign[0]!r}, which is not one of the columns")
        alone = [(j,) for j in range(len(place))]
        return alone + [tuple(sorted(place[c] for c in margin)) for margin in self.margins]

    def _edits(self, categories: Categories) -> Edits:
        foreign = [c for c in named_columns((), self.impossible) if c not in self.columns]
        if foreign:
            raise DataError(
                f"an impossible combination names {foreign[0]!r}, not one of the columns"
            )
        columns = {column.name: column for column in categories.columns}
        return Edits(columns, impossible=self.impossible)

    def _cells(self, categories: Categories, combination: Combination) -> tuple[Any, ...]:
        """Return the cells of an impossible combination as an index of the table."""
        allowed = [np.ones(size, dtype=bool) for size in categories.shape]
        for condition in combination:
            j = list(self.columns).index(condition.column)
            column, distinct = categories.columns[j], categories.numbers[j]
            known = np.arange(column.n_levels) if distinct is None else distinct
            holds = compared(column, known, condition.comparison, condition.value)
            allowed[j][: len(holds)] &= holds
            allowed[j][len(holds) :] = False  # a gap is no value
        return np.ix_(*(np.flatnonzero(cells) for cells in allowed))

    def public_note(self) -> str:
        """Say that no record belongs to anybody."""
        return "All records are synthetic: drawn from tables of the original"


def _margin(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    others = tuple(a for a in range(table.ndim) if a not in axes)
    return np.asarray(table.sum(axis=others))


def released(kept: Microdata, series: Sequence[Any]) -> Microdata:
    """Hold drawn series as records that belong to nobody."""
    import polars as pl

    table = pl.DataFrame(list(series)).with_columns(pl.lit(-1, dtype=pl.Int64).alias(ROW))
    return replace(kept._holding(table, kept.schema), knowledge=Knowledge())
