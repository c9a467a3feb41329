"""Models that tell released records from original ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement, Unit
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind
from tacit.utility._design import Design, comparable
from tacit.utility._domains import recoded
from tacit.utility._tables import recoded_warnings, text_warnings

Model = Literal["logistic", "tree"]


def chances_to_be_released(
    matrix: np.ndarray, released: np.ndarray, model: Model, seed: int
) -> np.ndarray:
    """Return each record's estimated chance to be a released one."""
    if matrix.shape[1] == 0:
        return np.full(len(matrix), released.mean())
    if model == "tree":
        from sklearn.tree import DecisionTreeClassifier

        leaf = max(20, len(matrix) // 200)
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed)
        return np.asarray(tree.fit(matrix, released).predict_proba(matrix)[:, 1])
    from sklearn.linear_model import LogisticRegression

    logistic = LogisticRegression(C=1e6, max_iter=500, tol=1e-6)
    return np.asarray(logistic.fit(matrix, released).predict_proba(matrix)[:, 1])


@dataclass(frozen=True)
class Scores:
    """Estimated chances of the records of both files."""

    original: np.ndarray
    released: np.ndarray
    columns: list[str]
    warnings: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of released records: the chance of a record about which nothing is known."""
        return len(self.released) / (len(self.original) + len(self.released))


class PropensityMeasure(Utility):
    """A measure of how far a model tells released records from original ones."""

    default: ClassVar[bool] = False

    columns: Columns | None = None
    """Columns the model sees; by default all that both files have."""
    model: Model = "logistic"
    """Logistic regression on main effects, or a classification tree."""
    most_records: Annotated[int, Ge(10)] = 50_000
    """Records drawn from each file, at most."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of that draw, and of what else is left to chance."""

    def objection(self, original: Microdata) -> str | None:
        """Say that an empty file cannot be compared."""
        return "there is no record to compare" if original.n_records == 0 else None


class ScoreMeasure(PropensityMeasure):
    """A measure that is one number made of the scores of both files."""

    largest: ClassVar[float] = 1.0
    """Value of files that a model tells apart wholly."""
    unit: ClassVar[Unit] = "number"
    """How the value is written."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return how far the scores of both files differ; 0 if they do not."""
        scores = propensity_scores(
            original, release, self.columns, self.model, self.most_records, self.seed
        )
        value = self._value(scores)
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower",
            bounds=(0.0, self.largest), unit=self.unit,
            details={"columns": scores.columns, "model": self.model},
            explanation=self._explanation(value), warnings=scores.warnings,
        )  # fmt: skip

    @abstractmethod
    def _value(self, scores: Scores) -> float:
        """Return the value."""

    @abstractmethod
    def _explanation(self, value: float) -> str:
        """Say what the value means."""


def propensity_scores(
    original: Any, release: Any, columns: Any, model: Model, most_records: int, seed: int
) -> Scores:
    """Estimate for all records of both files the chance to be a released one."""
    both = pair(original, release)
    names = list(columns) if columns else comparable(both)
    if not names:
        raise DataError("a propensity score needs columns that both files have")
    for side in both.sides:
        side.schema.require(names)
    rng = np.random.default_rng(seed)
    design = Design.of(both, names, most=most_records, rng=rng)
    found = chances_to_be_released(design.matrix, design.is_released, model, seed)
    said = difference_warnings(both, names)
    return Scores(found[: design.n_original], found[design.n_original :], names, said)


def difference_warnings(both: Pair, names: list[str]) -> tuple[str, ...]:
    """Say which columns are no longer what they were, and so tell the files apart."""
    changed = [c for c in names if both.kinds(c) != {Kind.NUMERIC}]
    other = recoded(both, changed)
    text = [c for c in changed if both.original.schema[c].kind == Kind.NUMERIC]
    said = text_warnings([c for c in text if c not in other])
    return (*recoded_warnings(other, "it tells the files apart"), *said)
