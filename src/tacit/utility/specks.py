"""Kolmogorov-Smirnov distance of propensity scores (SPECKS)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.utility._propensity_model import Model, propensity_scores

_SAME = 9
"""Decimals to which two scores are told apart; the fit is no more exact."""


class Specks(
    Utility,
    key="specks",
    title="Distance of propensity scores (SPECKS)",
    cites=("bowen2021", "raab2021"),
    example={"columns": ["age", "sex", "income"]},
):
    r"""Measure how far a model pulls original and released records apart.

    0 means that both files have the same scores, 1 that one score divides them. It needs no pairs
    of records, so it serves synthetic data.

    Missing values: gaps are marked by indicators. Weights: not used. Households: not considered.

    Notes
    -----
    With :math:`F_o, F_r` the distributions of the estimated chances to be a released record, in the
    original and in the release [bowen2021]_,

    .. math:: SPECKS = \max_p |F_o(p) - F_r(p)|.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(400)
    >>> utility.Specks(columns=["age", "income"]).measure(data, data).value
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
        """Return the largest difference of the distributions of the scores."""
        scores = propensity_scores(
            original, release, self.columns, self.model, self.most_records, self.seed
        )
        value = largest_gap(np.round(scores.original, _SAME), np.round(scores.released, _SAME))
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            details={"columns": scores.columns, "model": self.model},
            explanation=f"At one score the shares of original and released records below it differ "
            f"by {100 * value:.1f} percentage points; nowhere by more.",
            warnings=scores.warnings,
        )  # fmt: skip


def largest_gap(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest difference of two empirical distribution functions.

    Examples
    --------
    >>> largest_gap(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    at = np.unique(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(x), at, side="right") / len(x) for x in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())
