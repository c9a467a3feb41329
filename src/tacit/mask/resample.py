"""Resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._noise import finite_columns, with_columns
from tacit.mask._sorting import random_order_of_ties
from tacit.mask._strata import split_by, strata_of


class Resample(
    RuleKeepingMask,
    key="resample",
    title="Resampling",
    cites=("heer1993", "domingoferrer1999", "domingoferrer2001"),
    example={"columns": ["income", "hours"], "samples": 2},
):
    r"""Replace values by those of the same rank in samples drawn from the file itself.

    Who had more still has no less, variable by variable; means and totals of the variables are kept
    in expectation. Categories given as `table` get the counts of a sample of the file. When not to
    use it: as the only protection of the largest values, which are likely to stay; top code first.

    Edit rules of the schema hold on every record of the release: values that break one are moved to
    its border, and an indicator that would is blanked.

    Missing values: stay missing; a record that misses a variable of `table` keeps its categories.
    Weights: not used; samples are drawn with equal probabilities. Households: not considered.

    Notes
    -----
    From the :math:`n` values of a variable :math:`t` samples of size :math:`n` are drawn with
    replacement and sorted; the value of rank :math:`r` becomes the mean of their values of rank
    :math:`r`, :math:`\frac1t\sum_{s=1}^t x^{(s)}_{(r)}`. Equal values have ranks in random order.
    More samples bring the result nearer to the original.

    The bootstrap was proposed for contingency tables by [heer1993]_ and studied by
    [domingoferrer1999]_; its use on microdata is described in [domingoferrer2001]_. For categories
    the cells of the table of all combinations get the counts of :math:`t` bootstrap samples,
    averaged and rounded without bias to the total :math:`n`; as few records as possible then
    change their combination, drawn by lot.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> frame = tacit.Plan([mask.Resample(columns=["income"])]).apply(data, seed=1).frame
    >>> set(frame["income"]) <= set(data.frame["income"])
    True
    """

    columns: Columns | None = None  # type: ignore[assignment]
    """Numeric variables, each resampled by itself."""
    table: Columns | None = None
    """Categorical variables whose table of combinations is resampled."""
    samples: Annotated[int, Ge(1), Try(1, 2, 5)] = 1
    """Number of samples that are averaged; more is nearer to the original and less safe."""
    within: Columns | None = None
    """Draw the samples inside each category of these variables, say a region."""

    @property
    def _movable(self) -> Sequence[str]:
        return (*(self.columns or ()), *(self.table or ()))

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.columns is None and self.table is None:
            raise ValueError("needs 'columns' or 'table', or both")
        both = (set(self.columns or ()) | set(self.within or ())) & set(self.table or ())
        if both:
            raise ValueError(f"should not name a variable of 'table' elsewhere too: {min(both)}")
        return self

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        data.schema.require(self.within or ())
        if data.n_records < 2:
            raise DataError("resampling needs at least two records", got=f"{data.n_records}")
        strata = strata_of(data, self.within)
        if self.table is not None:
            data = self._with_table(data, strata, rng)
        if self.columns is None:
            return data
        values = finite_columns(data, self.columns, self.key)
        for column in values.T:
            for part in split_by(strata, np.flatnonzero(~np.isnan(column))):
                column[part] = resampled(column[part], self.samples, rng)
        return with_columns(data, self.columns, values)

    def _with_table(
        self, data: Microdata, strata: np.ndarray | None, rng: np.random.Generator
    ) -> Microdata:
        kinds = [Kind.NOMINAL, Kind.ORDINAL, Kind.TEXT]
        columns = list(self.table or ())
        data.schema.require(columns, kinds=kinds, by=self.key)
        codes = encode(data, columns)
        source = np.arange(len(codes))
        for part in split_by(strata, np.flatnonzero((codes >= 0).all(axis=1))):
            cells, _ = group_ids(codes[part])
            source[part] = part[resampled_cells(cells, self.samples, rng)]
        table = data.local
        return data.with_local(table.with_columns(table[c][source].alias(c) for c in columns))


def resampled(values: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Replace the value of each rank by the mean of that rank in samples with replacement."""
    n = len(values)
    order = random_order_of_ties(values, rng)
    ascending = values[order]
    total = np.zeros(n)
    for _ in range(samples):
        # Counting how often each value is drawn sorts the sample without sorting.
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        total += np.repeat(ascending, drawn)
    result = np.empty(n)
    result[order] = total / samples
    return result


def resampled_cells(cells: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return for each record one whose cell it takes, so that counts are those of samples.

    Parameters
    ----------
    cells
        Number of the cell of each record: 0, 1, ...
    samples
        How many bootstrap tables are averaged.
    """
    n = len(cells)
    before = np.bincount(cells)
    drawn = rng.multinomial(samples * n, before / n) / samples
    # Systematic rounding keeps the total and the expected count of each cell.
    after = np.diff(np.floor(np.cumsum(drawn) + rng.random() + 1e-9), prepend=0.0).astype(np.int64)
    after[-1] += n - after.sum()
    order = rng.permutation(n)
    order = order[np.argsort(cells[order], kind="stable")]
    starts = np.cumsum(before) - before
    place = np.arange(n) - np.repeat(starts, before)
    leaving = order[place >= np.repeat(np.minimum(before, after), before)]
    source = np.arange(n)
    gaining = np.repeat(np.arange(len(before)), np.maximum(after - before, 0))
    source[rng.permutation(leaving)] = order[starts[gaining]]
    return source
