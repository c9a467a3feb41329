"""Eigenvalues of the covariance matrix before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import pair
from tacit.utility._numbers import Numbers, objection_without_numbers
from tacit.utility._structure import Structure


class EigenvalueLoss(
    Utility,
    key="eigenvalue-loss",
    title="Change of eigenvalues",
    cites=("templ2015",),
    example={"columns": ["age", "hours", "income", "taxes"]},
):
    r"""Measure how far the variances along the principal axes of numeric columns moved.

    0 means that a principal component analysis finds the same variances, 1 what a constant release
    would give.

    Missing values: covariances are over the complete records of each file. Weights: used where
    both files have them. Households: not considered.

    Notes
    -----
    Both files are put in units of the original's standard deviations. With
    :math:`\lambda_1 \ge \dots \ge \lambda_p` the eigenvalues of the original's covariance matrix
    and :math:`\lambda'_j` those of the release,

    .. math:: E = \frac{\sum_j |\lambda_j - \lambda'_j|}{\sum_j \lambda_j},

    the comparison that sdcMicro offers beside IL1 [templ2015]_. Since :math:`\sum_j \lambda_j = p`,
    both lost variance and lost correlation show. ``details`` hold the eigenvalues and, for each
    axis, the cosine between the original's and the release's direction.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(300)
    >>> utility.EigenvalueLoss(columns=["age", "income", "taxes"]).measure(data, data).value
    0.0
    """

    default = False

    columns: Columns | None = None
    """Numeric columns; by default all that both files have, but weights and household numbers."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no numeric column, if there is none."""
        return objection_without_numbers(original, self.columns)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the total change of the eigenvalues over their sum."""
        numbers = Numbers.of(pair(original, release), self.columns, by=self.key)
        old, new, names = _standardised(numbers, by=self.key)
        before, axes = np.linalg.eigh(old)
        after, new_axes = np.linalg.eigh(new)
        before, after = before[::-1].clip(0.0), after[::-1].clip(0.0)
        value = float(np.abs(before - after).sum() / before.sum())
        cosines = np.abs((axes[:, ::-1] * new_axes[:, ::-1]).sum(axis=0))
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower",
            bounds=(0.0, float("inf")), unit="percent",
            details={
                "columns": names, "original": before.tolist(), "release": after.tolist(),
                "explained": [float(e[0] / e.sum()) if e.sum() > 0 else float("nan")
                              for e in (before, after)],
                "cosines": cosines.tolist(),
            },
            explanation=(
                f"The variances along the principal axes of {', '.join(names)} changed by "
                f"{100 * value:.3g} % in all."
            ),
            warnings=numbers.warnings,
        )  # fmt: skip


def _standardised(numbers: Numbers, *, by: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return both covariance matrices in the original's units, without its constant columns."""
    centre = np.nanmax(np.abs(np.nan_to_num(numbers.before)), axis=0, initial=0.0)
    size = np.where(centre > 0, centre, 1.0)
    old = Structure.of(numbers.before / size, numbers.weights[0])
    new = Structure.of(numbers.after / size, numbers.weights[1])
    if min(old.n_complete, new.n_complete) < 2:
        raise DataError(
            f"{by} needs at least two complete records in each file",
            got=f"{old.n_complete} and {new.n_complete}",
            do="name columns with fewer gaps",
        )
    varies = old.deviations > 1e-12
    if not varies.any():
        raise DataError(f"{by} needs a column that varies in the original")
    scale = np.outer(old.deviations[varies], old.deviations[varies])
    chosen = np.ix_(varies, varies)
    names = [n for n, v in zip(numbers.columns, varies, strict=True) if v]
    return old.covariances[chosen] / scale, new.covariances[chosen] / scale, names
