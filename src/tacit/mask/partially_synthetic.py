"""Synthetic values in place of some real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from pydantic import Field

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Mask
from tacit.core.keys import encode, frequencies
from tacit.core.method import Columns, Try
from tacit.mask._edit_rules import within_rules
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.edits import Edits, as_rules_hold, check_known, compared
from tacit.mask.synthesis.generator import Wishes
from tacit.mask.synthesis.rules import Combination, Condition, IfThen, named_columns
from tacit.mask.synthesis.sequential import SequentialModel, fitted
from tacit.mask.synthesis.synthesisers.choice import Model
from tacit.mask.synthesis.synthesisers.model import Settings

_MOST_REDRAWS = 20
"""Draws of a record without an impossible combination."""


class PartiallySynthetic(
    Mask,
    key="partially-synthetic",
    title="Partially synthetic data",
    cites=("little1993", "reiter2003", "reiter2005"),
    example={"columns": ["marital", "income"], "m": 1},
):
    r"""Replace the values of some columns, of all records or of those at risk, by drawn ones.

    What is not replaced stays real, so that subdomains stay useful; and so each record still
    belongs to somebody. When not to use it: where the values that stay identify people.

    Edit rules of the schema hold on every record: drawn values obey them, or are moved to the
    border, or blanked where no value obeys. If `rules` do not hold, or an `impossible` combination
    is left, in a record that stays for instance, nothing is released.

    Missing values: of the chosen columns are drawn as they occur. Weights: kept; the models are
    not weighted. Households: not considered; records are drawn one by one.

    Notes
    -----
    With :math:`Z_i = 1` for records that are replaced, the chosen variables are drawn one after
    another from models given all variables that stay and those drawn before [reiter2003]_. Records
    are replaced where fewer than `at_risk` records share their keys, or where a condition in
    `where` holds; if both are given, either is enough. Models are fitted to all records; but where
    a condition speaks of a value that is itself replaced, say an income above 50,000, to the
    records with :math:`Z_i = 1` alone, as draws from all would make the rich poorer. The records
    replaced are the same in all `m` data sets. Intervals: rule ``"partially"`` of
    ``tacit.inference``.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> rich = {"column": "income", "comparison": ">", "value": 50000}
    >>> plan = tacit.Plan([mask.PartiallySynthetic(columns=["income"], where=[rich])])
    >>> changed = plan.apply(data, seed=1).steps[-1].changed["income"]
    >>> 0 < changed <= (data.frame["income"] > 50000).sum()
    True
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    columns: Columns
    """Columns whose values are replaced, in this order."""
    at_risk: Annotated[int, Ge(2), Try(2, 3, 5)] | None = None
    """Replace only records whose keys fewer than so many records share."""
    keys: Columns | None = None
    """Columns that make a record rare; by default those with the role of a key."""
    where: tuple[Condition, ...] = ()
    """Replace only records for which one of these holds."""
    method: Model = "cart"
    """Model of all columns that `methods` does not name."""
    methods: dict[str, Model] = Field(default_factory=dict)
    """Models of single columns."""
    predictors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Variables that a column is drawn from; by default those that tell most about it."""
    most_predictors: Annotated[int, Ge(1)] = 20
    """Predictors of a column at most."""
    leaf: Annotated[int, Ge(2), Try(5, 10, 20, 50)] = 5
    """Records in a leaf of a tree, at least."""
    evidence: Annotated[float, Ge(0), Try(4.0, 8.0, 16.0)] = 8.0
    """How many times as much as a random cut a cut of a tree must explain; more is safer."""
    smooth: bool = True
    """Draw numbers between those of a leaf, not the numbers themselves."""
    common: Annotated[int, Ge(2)] = 3
    """Numbers that so many records share are drawn as they are."""
    common_category: Annotated[int, Ge(1)] = 2
    """Categories that fewer people or households have are not drawn at all; 1 draws all."""
    proper: bool = True
    """Fit models to a bootstrap sample, so that data sets differ as much as they should."""
    m: Annotated[int, Ge(1)] = 1
    """Number of data sets in the release."""
    rules: tuple[IfThen, ...] = ()
    """Rules of the form "if ... then ..." about the chosen columns."""
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
        return "partially"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with drawn values."""
        self._check(data)
        columns = _coded(data, self.columns)
        rows = np.flatnonzero(self._replaced(data, columns))
        if not len(rows):
            return data
        given = [c for c in columns if c not in self.columns]
        edits = Edits.about(data, columns, self.rules, self.impossible, given)
        wishes = Wishes(
            self.method, self.methods, self.columns, False, self.predictors, self.most_predictors
        )
        learnt = self._learnt_from(columns, rows)
        design = wishes.design(learnt, given, edits, rng, list(self.columns))
        settings = Settings(
            self.leaf, self.evidence, self.smooth, self.common, self.common_category,
            proper=self.proper,
        )  # fmt: skip
        model = fitted(learnt, design, edits, settings, rng)
        made = self._with_draws(data, columns, model, rows, rng)
        for _ in range(_MOST_REDRAWS):
            again = np.intersect1d(edits.impossible_rows(made.local), rows)
            if not len(again):
                break
            made = self._with_draws(made, columns, model, again, rng)
        return as_rules_hold(made, edits)

    def _with_draws(
        self, data: Microdata, columns: dict[str, Column], model: SequentialModel,
        rows: np.ndarray, rng: np.random.Generator,
    ) -> Microdata:  # fmt: skip
        """Replace the values of some records."""
        known = {n: c.values[rows] for n, c in columns.items() if n not in self.columns}
        drawn = model.draw(known, len(rows), rng)
        table = data.local
        for name in self.columns:
            values = columns[name].decoded(drawn[name])
            table = table.with_columns(table[name].clone().scatter(rows, values))
        return within_rules(data.with_local(table), self.columns)

    def _learnt_from(self, columns: dict[str, Column], rows: np.ndarray) -> dict[str, Column]:
        """Return what the models see: of records chosen by what is replaced only these."""
        if not {c.column for c in self.where} & set(self.columns):
            return columns
        if len(rows) < 2 * self.leaf:
            raise DataError(
                "records that are chosen by a value that is replaced are learnt from alone, and "
                f"must be {2 * self.leaf} at least",
                got=f"{len(rows)}",
                do="widen the condition, lower leaf, or top-code instead",
            )
        return {name: replace(c, values=c.values[rows]) for name, c in columns.items()}

    def _replaced(self, data: Microdata, columns: dict[str, Column]) -> np.ndarray:
        """Say which records are replaced."""
        if self.at_risk is None and not self.where:
            return np.ones(data.n_records, dtype=bool)
        chosen = np.zeros(data.n_records, dtype=bool)
        if self.at_risk is not None:
            keys = list(self.keys or data.schema.keys)
            if not keys:
                raise DataError(
                    "records at risk are found by keys, and no column is one",
                    do="name the keys with with_roles(keys=[...])",
                )
            chosen |= frequencies(encode(data, keys)) < self.at_risk
        for condition in self.where:
            column = Column.of(data.local[condition.column], data.schema[condition.column])
            check_known(column, condition)
            chosen |= compared(column, column.values, condition.comparison, condition.value)
        return chosen

    def _check(self, data: Microdata) -> None:
        schema = data.schema
        for names in (
            self.columns, self.keys or (), self.methods, self.predictors,
            *self.predictors.values(), [c.column for c in self.where],
            named_columns(self.rules, self.impossible),
        ):  # fmt: skip
            schema.require(names)
        design = [c for c in self.columns if c in (schema.weight, schema.household)]
        if design:
            raise ParameterError("weights and household numbers are not replaced", got=design[0])
        _ = data.weights  # refuses bad ones
        if data.n_records < 2 * self.leaf:
            raise DataError(
                f"synthesis needs at least {2 * self.leaf} records to learn from",
                got=f"{data.n_records}",
                do="lower leaf, or do not synthesise so few",
            )

    def describe(self) -> str:
        """Say in plain words what was replaced."""
        whom = "records at risk" if self.at_risk is not None or self.where else "all records"
        return f"{self.title}: {', '.join(self.columns)} of {whom}, {self.m} data sets"


def _coded(data: Microdata, replaced: tuple[str, ...]) -> dict[str, Column]:
    """Code all columns that can be replaced or tell something; texts tell nothing."""
    table, found = data.local, {}
    for name in data.columns:
        if name == data.schema.household:
            continue
        try:
            found[name] = Column.of(table[name], data.schema[name])
        except DataError:
            if name in replaced:
                raise
    return found
