"""Rubin's fully synthetic data: samples of imputed populations."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from pydantic import Field

from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.core.families import Mask
from tacit.core.knowledge import Knowledge
from tacit.core.method import Columns
from tacit.mask.restore_rules import restored
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.edits import Edits, as_rules_hold
from tacit.mask.synthesis.generator import Wishes
from tacit.mask.synthesis.originals import (
    Originals,
    check_none_came_back,
    forbidden_records,
    without_originals,
)
from tacit.mask.synthesis.rules import Combination, IfThen, named_columns
from tacit.mask.synthesis.sequential import fitted
from tacit.mask.synthesis.synthesisers.choice import Model
from tacit.mask.synthesis.synthesisers.model import Settings


class FullySynthetic(
    Mask,
    key="fully-synthetic",
    title="Fully synthetic data (Rubin)",
    cites=("rubin1993", "raghunathan2003", "reiter2002", "domingoferrer2007"),
    example={"background": ["region", "sex", "age"], "sampled": "employed"},
):
    r"""Impute the survey for people who were not in it, and release samples of them.

    The file holds the whole population: background variables are known for everybody, all others
    for the sample only. Nobody who answered is in the release. When not to use it: if background
    variables identify the people whose answers are imputed, who may be taken to have given them.

    Edit rules of the schema, and `rules`, hold on every record, and no record has a combination
    that is declared `impossible`.

    Missing values: are drawn as they occur in the sample. Weights: drawn like a variable. The
    release is a simple random sample of those outside. Households: not considered.

    Notes
    -----
    Of :math:`N` people :math:`n` are in the sample. Models of the other variables given the
    background are fitted to the sample (to a bootstrap sample of it, so that imputations are
    proper); values are drawn for :math:`n'` of the :math:`N - n` others, chosen at random; all this
    `m` times [rubin1993]_, [domingoferrer2007]_. Intervals: rule ``"fully"`` of ``tacit.inference``
    [raghunathan2003]_.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(900)
    >>> frame = data.frame.with_columns(asked=pl.int_range(pl.len()) < 300)
    >>> plan = tacit.Plan([mask.FullySynthetic(background=["sex", "age"], sampled="asked", m=3)])
    >>> release = plan.apply(frame.drop("person_id", "household"), seed=1)
    >>> [d.n_records for d in release.data_sets], "asked" in release.data.columns
    ([300, 300, 300], False)
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    background: Columns
    """Variables known for everybody."""
    sampled: str
    """Column that is true for the sample; it is not released."""
    size: Annotated[int, Ge(1)] | None = None
    """Records of each data set; by default as many as the sample has."""
    method: Model = "cart"
    """Model of all variables that `methods` does not name."""
    methods: dict[str, Model] = Field(default_factory=dict)
    """Models of single variables."""
    most_predictors: Annotated[int, Ge(1)] = 20
    """Predictors of a variable at most: those that tell most about it."""
    leaf: Annotated[int, Ge(2)] = 5
    """Records in a leaf of a tree, at least."""
    smooth: bool = True
    """Draw numbers between those of a leaf, not the numbers themselves."""
    common_category: Annotated[int, Ge(1)] = 2
    """Categories that fewer people or households have are not drawn at all; 1 draws all."""
    m: Annotated[int, Ge(1)] = 5
    """Number of data sets in the release."""
    originals: Originals = "allowed"
    """Whether a released record may equal one of the sample, chance alone making it so."""
    originals_on: Columns | None = None
    """Columns to compare for `originals`, keys for instance: with ``originals="no-uniques"`` no
    unique person's keys are replicated. By default all but the weight."""
    rules: tuple[IfThen, ...] = ()
    """Rules of the form "if ... then ...", beside those of the schema."""
    impossible: tuple[Combination, ...] = ()
    """Combinations that cannot be (structural zeros): ``{"sex": "male", "pregnant": True}``, or
    conditions: ``[{"column": "age", "comparison": "<", "value": 16}, ...]``."""

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in the release."""
        return self.m

    @property
    def combining(self) -> str:
        """Rule of ``tacit.inference`` for the data sets."""
        return "fully"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return a sample of an imputed population."""
        is_sampled = self._sample(data)
        outside, size = self._outside(is_sampled, rng)
        gone = [c for c in (self.sampled, data.schema.household) if c is not None]
        data = data.drop(gone)
        columns = self._columns(data, np.flatnonzero(is_sampled))
        sample = {c: _of(column, is_sampled) for c, column in columns.items()}
        edits = Edits.about(data, columns, self.rules, self.impossible, self.background)
        wishes = Wishes(self.method, self.methods, most_predictors=self.most_predictors)
        design = wishes.design(sample, list(self.background), edits, rng)
        settings = Settings(
            self.leaf, smooth=self.smooth, common_category=self.common_category, proper=True
        )
        model = fitted(sample, design, edits, settings, rng)
        people = iter(outside)

        def draw(n: int) -> tuple[Any, np.ndarray]:
            rows = np.fromiter(islice(people, n), dtype=np.int64)
            if not len(rows):
                raise ProtectionError(
                    "there are too few people outside the sample to leave some out",
                    do="lower size, or allow records that equal one of the sample",
                )
            known = {c: columns[c].values[rows] for c in self.background}
            drawn = model.draw(known, len(rows), rng)
            made = self._released(data.take(rows), columns, drawn)
            return as_rules_hold(made, replace(edits, impossible=())).local, np.arange(len(rows))

        asked = data.take(np.flatnonzero(is_sampled))
        forbidden = forbidden_records(asked, self.originals, self.originals_on)
        table, _ = without_originals(draw, size, forbidden, edits.impossible_rows)
        return replace(data._holding(table, data.schema), knowledge=Knowledge())

    def _columns(self, data: Microdata, asked: np.ndarray) -> dict[str, Column]:
        """Code the background of everybody; of the rest what the sample has answered."""
        import polars as pl

        table, found = data.local, {}
        for name in data.columns:
            series = table[name]
            if name not in self.background:  # nobody else's answers are read
                series = pl.Series(name, [None], dtype=series.dtype).gather(
                    np.zeros(len(table), dtype=np.int64)
                ).scatter(asked, series.gather(asked))  # fmt: skip
            found[name] = Column.of(series, data.schema[name])
        return found

    def _released(
        self, outside: Microdata, columns: dict[str, Column], drawn: dict[str, np.ndarray]
    ) -> Microdata:
        """Return the people outside the sample with drawn values."""
        import polars as pl

        table = outside.local.with_columns(
            columns[c].decoded(drawn[c]) for c in columns if c not in self.background
        )
        if ROW in table.columns:  # nobody's answers: the record came from no record
            table = table.with_columns(pl.lit(-1, dtype=pl.Int64).alias(ROW))
        return restored(outside.with_local(table)).data

    def sample_of(self, data: Microdata) -> Microdata:
        """Return the people who were asked, from whom the models were learnt."""
        return data.take(np.flatnonzero(self._sample(data)))

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse records that other steps have made equal to those of the sample."""
        if self.originals != "allowed" and self.sampled in original.schema:
            asked = self.sample_of(original).drop([self.sampled])
            check_none_came_back(asked, released, self.originals, self.originals_on)

    def _sample(self, data: Microdata) -> np.ndarray:
        named = named_columns(self.rules, self.impossible)
        data.schema.require([*self.background, self.sampled, *self.methods, *named])
        if self.sampled in self.background:
            raise ParameterError("the column that marks the sample is no background variable")
        values = data.local[self.sampled]
        if values.null_count() or not set(values.unique().to_list()) <= {True, False}:
            raise DataError(f"{self.sampled!r} must be true or false for everybody")
        is_sampled = np.asarray(values.to_numpy(), dtype=bool)
        if is_sampled.sum() < 2 * self.leaf or is_sampled.all():
            raise DataError(
                f"imputation needs a sample of at least {2 * self.leaf}, and people outside it",
                got=f"{int(is_sampled.sum())} of {len(is_sampled)}",
            )
        return is_sampled

    def _outside(self, is_sampled: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
        """Put the people outside the sample in random order; say how many are wanted."""
        outside = np.flatnonzero(~is_sampled)
        size = min(int(is_sampled.sum()), len(outside)) if self.size is None else self.size
        if size > len(outside):
            raise DataError(
                "there are not so many people outside the sample",
                got=f"{size:,} wanted, {len(outside):,} there",
                do="lower size",
            )
        return rng.permutation(outside), size

    def describe(self) -> str:
        """Say in plain words what was imputed."""
        return f"{self.title}: all variables but {', '.join(self.background)}, {self.m} data sets"

    def public_note(self) -> str:
        """Say that nobody who answered is in the file."""
        return "All records are people who were not asked; their answers are synthetic"


def _of(column: Column, rows: np.ndarray) -> Column:
    """Return the values of some people, coded as they are."""
    return replace(column, values=column.values[rows])
