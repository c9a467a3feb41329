"""Synthetic records in place of all real ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from pydantic import Field

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Mask
from tacit.core.method import Columns, Try
from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.generator import Wishes, flat_generator, unit_generator
from tacit.mask.synthesis.originals import (
    Originals,
    check_none_came_back,
    forbidden_records,
    without_originals,
)
from tacit.mask.synthesis.rules import Combination, IfThen, named_columns
from tacit.mask.synthesis.source import Source
from tacit.mask.synthesis.synthesisers.choice import Model
from tacit.mask.synthesis.synthesisers.model import Settings
from tacit.mask.synthesis.units import shared_columns

_FEWEST = 2
"""Leaves that the records must fill at least."""


class Synthesise(
    Mask,
    key="synthesise",
    title="Synthetic data (sequential)",
    cites=("rubin1993", "reiter2005", "nowok2016", "raab2016"),
    example={"leaf": 5},
):
    r"""Replace all records by records drawn from models of one variable after another.

    No released record is a real one. Margins, pairs and higher relations that trees find are kept.
    When not to use it: for small groups, outliers and any statistic that nobody modelled; and do
    not believe that nobody can be hurt: measure `replicated-uniques`, `correct-attribution` and
    `matching-people` on the release.

    Edit rules of the schema, and `rules`, hold on every record, and no record has a combination
    that is declared `impossible`. A direct identifier, or a category that most people have alone,
    is refused rather than copied. A number of fewer than `common` people or households is not drawn
    as it is, a category of fewer than `common_category` not at all. How far the largest number lies
    out shows all the same (`extreme-values`): top-code where that must not be.

    Missing values: are drawn as they occur, as a state of their own, and are a branch of the trees.
    Weights: drawn like a variable and scaled to their total; the models are not weighted.
    Households: whole households are drawn: size and shared variables first, then member after
    member given the previous and the first one; the same holds for the waves of a person, with
    `order_by`.

    Notes
    -----
    With the variables in the order of the visit, each is drawn from a model of

    .. math:: f(x_j \mid x_1, \dots, x_{j-1}),

    fitted to the original and applied to the values drawn so far [nowok2016]_. By default the model
    is a tree [reiter2005]_ and the value that of a record drawn from the leaf; levels of a category
    are ordered by the target at each node, so that many levels cost no more than few. A number that
    fewer than `common` records have moves a random part of the way to a neighbour in its leaf, and
    keeps the decimals of its column (`smooth`); records with a rare category take no part in
    its model. Numbers that 10 % of the records share, such as zero, are states of their
    own, drawn first.

    Intervals from the `m` data sets are those of ``tacit.inference``: rule ``"simple"``, or with
    ``proper=True`` (models fitted to bootstrap samples) rule ``"proper"`` [raab2016]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Synthesise(m=2)]).apply(data, seed=1)
    >>> len(release.data_sets), sum(release.data.broken_constraints().values())
    (2, 0)
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    method: Model = "cart"
    """Model of all variables that `methods` does not name."""
    methods: dict[str, Model] = Field(default_factory=dict)
    """Models of single variables: ``{"income": "normal-rank"}``."""
    events: dict[str, str] = Field(default_factory=dict)
    """For durations (model survival), the column that says how they ended: ``{"time": "died"}``."""
    visit: Columns | None = None
    """Order in which variables are drawn, the others after these; by default the file's."""
    learn_visit: bool = False
    """Choose the order by how much variables tell about each other."""
    predictors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Variables that a variable is drawn from; by default all that were drawn before it."""
    most_predictors: Annotated[int, Ge(1)] = 20
    """Predictors of a variable at most: those that tell most about it."""
    leaf: Annotated[int, Ge(2), Try(5, 10, 20, 50)] = 5
    """Records in a leaf of a tree, at least; more is safer and coarser."""
    evidence: Annotated[float, Ge(0), Try(4.0, 8.0, 16.0)] = 8.0
    """How many times as much as a random cut a cut of a tree must explain; more is safer."""
    smooth: bool = True
    """Draw numbers between those of a leaf, not the numbers themselves."""
    common: Annotated[int, Ge(2)] = 3
    """Numbers that so many records share are drawn as they are."""
    common_category: Annotated[int, Ge(1)] = 2
    """Categories that fewer people or households have are not drawn at all; 1 draws all."""
    proper: bool = False
    """Fit models to a bootstrap sample, so that data sets differ as much as they should."""
    m: Annotated[int, Ge(1)] = 1
    """Number of data sets in the release."""
    size: Annotated[int, Ge(1)] | None = None
    """Records to draw (households, where there are any); by default as many as there are."""
    originals: Originals = "allowed"
    """Whether a drawn record may equal an original one."""
    originals_on: Columns | None = None
    """Columns to compare for `originals`, keys for instance: with ``originals="no-uniques"`` no
    unique person's keys are replicated. By default all but the weight."""
    rules: tuple[IfThen, ...] = ()
    """Rules of the form "if ... then ...", beside those of the schema."""
    impossible: tuple[Combination, ...] = ()
    """Combinations that cannot be (structural zeros): ``{"sex": "male", "pregnant": True}``, or
    conditions: ``[{"column": "age", "comparison": "<", "value": 16}, ...]``."""
    order_by: str | None = None
    """Column that orders the records of a household, or the waves of a person."""

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in the release."""
        return self.m

    @property
    def combining(self) -> str:
        """Rule of ``tacit.inference`` for the data sets."""
        return "proper" if self.proper else "simple"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return synthetic records."""
        self._check(data)
        source = Source.of(data, self.order_by, by=self.key)
        shared = [] if source.units is None else shared_columns(source.columns, source.units)
        edits = Edits.about(data, source.columns, self.rules, self.impossible, shared)
        settings = Settings(
            self.leaf, self.evidence, self.smooth, self.common, self.common_category,
            proper=self.proper,
        )  # fmt: skip
        generator: Any
        if source.units is None:
            generator = flat_generator(source.columns, edits, self._wishes, settings, rng)
        else:
            generator = unit_generator(
                source.columns, source.units, edits, self._wishes, settings, rng
            )

        def draw(n: int) -> tuple[Any, np.ndarray]:
            values, unit = generator.draw(n, rng)
            return source.repaired(values, edits).local, unit

        forbidden = forbidden_records(data, self.originals, self.originals_on)
        n_units = self.size or source.n_units
        return source.finished(*without_originals(draw, n_units, forbidden, edits.impossible_rows))

    def check_release(self, original: Microdata, released: Microdata) -> None:
        """Refuse records that other steps have made equal to original ones."""
        check_none_came_back(original, released, self.originals, self.originals_on)

    @property
    def _wishes(self) -> Wishes:
        return Wishes(
            self.method, self.methods, self.visit, self.learn_visit, self.predictors,
            self.most_predictors, self.events,
        )  # fmt: skip

    def _check(self, data: Microdata) -> None:
        named: tuple[Iterable[str], ...] = (
            self.methods, self.events, self.events.values(), self.visit or (), self.predictors,
            self.originals_on or (),
            *self.predictors.values(),
        )  # fmt: skip
        for names in named:
            data.schema.require(names)
        data.schema.require(named_columns(self.rules, self.impossible))
        if self.learn_visit and self.visit is not None:
            raise ParameterError("the order is declared or learnt, not both", do="drop one")
        if data.n_records < _FEWEST * self.leaf:
            raise DataError(
                f"synthesis needs at least {_FEWEST * self.leaf} records to learn from",
                got=f"{data.n_records}",
                do="lower leaf, or do not synthesise so few",
            )

    def describe(self) -> str:
        """Say in plain words what was drawn."""
        sets = f"{self.m} data sets" if self.m > 1 else "one data set"
        return f"{self.title}: {sets}, model {self.method}, leaves of {self.leaf} records or more"

    def public_note(self) -> str:
        """Say that no record belongs to anybody."""
        return "All records are synthetic: drawn from models of the original records"
