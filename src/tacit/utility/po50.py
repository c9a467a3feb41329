"""Records that a propensity model sorts into the right file (PO50)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.utility._propensity_model import Model, Scores, propensity_scores


class PO50(
    Utility,
    key="po50",
    title="Records sorted right, over half (PO50)",
    cites=("raab2021",),
    example={"columns": ["age", "sex", "income"]},
):
    r"""Measure how many records a model sorts into the file they come from, beyond one half.

    0 means no more than by tossing a coin, 0.5 all. It needs no pairs of records.

    Missing values: gaps are marked by indicators. Weights: not used. Households: not considered.

    Notes
    -----
    A record is sorted by whether its estimated chance to be a released one is above the share
    :math:`c` of released records; scores equal to it count half. With the shares :math:`r_o, r_r`
    sorted right in both files the value is :math:`(r_o + r_r)/2 - 1/2`, which for files of equal
    size is the percentage over 50 of [raab2021]_, as a share.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(400)
    >>> utility.PO50(columns=["age", "income"]).measure(data, data).value
    0.0
    """

    default: ClassVar[bool] = False

    columns: Columns | None = None
    """Columns the model sees; by default all that both files have."""
    model: Model = "logistic"
    """Logistic regression on main effects, or a classification tree."""
    most_records: Annotated[int, Ge(10)] = 50_000
    """Records drawn from each file, at most."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of that draw."""

    def objection(self, original: Microdata) -> str | None:
        """Say that an empty file cannot be compared."""
        return "there is no record to compare" if original.n_records == 0 else None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share sorted right, less one half."""
        scores = propensity_scores(
            original, release, self.columns, self.model, self.most_records, self.seed
        )
        value = max(sorted_right(scores) - 0.5, 0.0)
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 0.5),
            unit="percent", details={"columns": scores.columns, "model": self.model},
            explanation=f"A model sorts {100 * (0.5 + value):.1f} % of the records into the file "
            "they come from; a coin would sort half.",
            warnings=scores.warnings,
        )  # fmt: skip


def sorted_right(scores: Scores) -> float:
    """Return the mean of the shares that are sorted right in both files; ties count half."""
    above = [
        float(np.mean(np.where(np.isclose(x, scores.share, atol=1e-9), 0.5, x > scores.share)))
        for x in (scores.original, scores.released)
    ]
    return (1 - above[0] + above[1]) / 2
