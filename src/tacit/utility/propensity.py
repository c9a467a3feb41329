"""Propensity score utility (pMSE)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind
from tacit.utility._design import Design, comparable
from tacit.utility._domains import recoded
from tacit.utility._propensity_model import PropensityMeasure, chances_to_be_released
from tacit.utility._tables import recoded_warnings, text_warnings


class Propensity(
    PropensityMeasure,
    key="propensity",
    title="Propensity score (pMSE)",
    cites=("woo2009", "snoke2018"),
    example={"columns": ["age", "sex", "income"]},
):
    r"""Measure how well a model can tell released records from original ones.

    0 means that it cannot at all: the release looks like the original in every way the model sees.
    It needs no pairs of records, so it serves synthetic data too.

    Missing values: gaps are marked by indicators, so that suppression counts as a difference.
    Weights: not used. Households: not considered.

    Notes
    -----
    Both files are stacked, a model estimates each record's chance :math:`\hat p_i` to be a released
    one, and with :math:`c` the share of released records [woo2009]_

    .. math:: pMSE = \frac1N \sum_i (\hat p_i - c)^2.

    For logistic regression with :math:`m` coefficients a release drawn from the same process has
    the expectation :math:`(m-1)(1-c)^2c/N` and the standard deviation
    :math:`\sqrt{2(m-1)}(1-c)^2c/N` [snoke2018]_; ``details`` hold the ratio to the first and the
    standardised difference. For a tree both come from permutations. The value is
    :math:`pMSE / (c(1-c))`, which lies between 0 and 1. The expectation is that of synthetic data
    drawn from a model fitted to the original; for two independent samples it is :math:`1/(1-c)`
    times as large, and for a masked file, whose records are the original ones changed, smaller.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(400)
    >>> round(utility.Propensity(columns=["age", "income"]).measure(data, data).value, 6)
    0.0
    """

    columns: Columns | None = None
    """Columns the model sees; by default all that both files have with some category in common."""
    permutations: Annotated[int, Ge(2)] = 20
    """How often the files are mixed at random to see what a tree finds by chance."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return how far estimated chances are from saying nothing."""
        both = pair(original, release)
        columns, warnings = self._compared(both)
        if not columns:
            raise DataError("a propensity score needs columns that both files have")
        rng = np.random.default_rng(self.seed)
        design = Design.of(both, columns, most=self.most_records, rng=rng)
        share = float(design.is_released.mean())
        chances = self._chances(design.matrix, design.is_released)
        pmse = float(np.mean((chances - share) ** 2))
        mean, spread = self._by_chance(design, share, rng)
        return Measurement(
            key=self.key, title=self.title, value=pmse / (share * (1.0 - share)), better="lower",
            bounds=(0.0, 1.0), per_unit=_per_record(both.released, design, chances),
            details={
                "pmse": pmse, "expected_by_chance": mean, "ratio": _over(pmse, mean),
                "standardised": _over(pmse - mean, spread), "columns": columns,
                "model": self.model, "records": len(design.matrix),
            },
            explanation=_explanation(pmse / (share * (1.0 - share)), self.model),
            warnings=warnings,
        )  # fmt: skip

    def _compared(self, both: Pair) -> tuple[list[str], tuple[str, ...]]:
        """Return the columns the model sees, and what it cannot see as it was."""
        columns = list(self.columns) if self.columns else comparable(both)
        for side in both.sides:
            side.schema.require(columns)
        changed = [c for c in columns if both.kinds(c) != {Kind.NUMERIC}]
        other = recoded(both, changed)
        text = [c for c in changed if both.original.schema[c].kind == Kind.NUMERIC]
        said = text_warnings([c for c in text if c not in other])
        if self.columns:
            return columns, (*recoded_warnings(other, "it tells the files apart"), *said)
        return [c for c in columns if c not in other], (*recoded_warnings(other, "left out"), *said)

    def _chances(self, matrix: np.ndarray, released: np.ndarray) -> np.ndarray:
        """Return each record's estimated chance to be a released one."""
        return chances_to_be_released(matrix, released, self.model, self.seed)

    def _by_chance(
        self, design: Design, share: float, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Return mean and standard deviation of pMSE for files from the same process."""
        if self.model == "logistic":
            n_free = int(np.linalg.matrix_rank(design.matrix)) if design.matrix.size else 0
            scale = (1.0 - share) ** 2 * share / len(design.matrix)
            return n_free * scale, float(np.sqrt(2.0 * n_free)) * scale
        found = []
        for _ in range(self.permutations):
            mixed = rng.permutation(design.is_released)
            found.append(np.mean((self._chances(design.matrix, mixed) - share) ** 2))
        return float(np.mean(found)), float(np.std(found, ddof=1))


def _per_record(released: Microdata, design: Design, chances: np.ndarray) -> np.ndarray | None:
    """Return the chances of the released records, if none was left out of the draw."""
    found = chances[design.n_original :]
    return found if len(found) == released.n_records else None


def _over(value: float, by: float) -> float:
    return value / by if by > 0 else float("nan")


def _explanation(value: float, model: str) -> str:
    how = "a logistic regression" if model == "logistic" else "a classification tree"
    if value < 0.01:
        return f"{how.capitalize()} can hardly tell released from original records."
    return (
        f"{how.capitalize()} tells released from original records to {100 * value:.0f} % of what "
        "is possible: the files differ in ways an analysis may see."
    )
