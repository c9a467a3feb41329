"""Kolmogorov-Smirnov distance of propensity scores (SPECKS)."""

from __future__ import annotations

import numpy as np

from tacit.utility._propensity_model import ScoreMeasure, Scores

_SAME = 9
"""Decimals to which two scores are told apart; the fit is no more exact."""


class Specks(
    ScoreMeasure,
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

    def _value(self, scores: Scores) -> float:
        return largest_gap(np.round(scores.original, _SAME), np.round(scores.released, _SAME))

    def _explanation(self, value: float) -> str:
        return (
            "At one score the shares of original and released records below it differ by "
            f"{100 * value:.1f} percentage points; nowhere by more."
        )


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
