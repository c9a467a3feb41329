"""Records that a propensity model sorts into the right file (PO50)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.core.measurement import Unit
from tacit.utility._propensity_model import ScoreMeasure, Scores


class PO50(
    ScoreMeasure,
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

    largest: ClassVar[float] = 0.5
    unit: ClassVar[Unit] = "percent"

    def _value(self, scores: Scores) -> float:
        return max(sorted_right(scores) - 0.5, 0.0)

    def _explanation(self, value: float) -> str:
        return (
            f"A model sorts {100 * (0.5 + value):.1f} % of the records into the file they come "
            "from; a coin would sort half."
        )


def sorted_right(scores: Scores) -> float:
    """Return the mean of the shares that are sorted right in both files; ties count half."""
    above = [
        float(np.mean(np.where(np.isclose(x, scores.share, atol=1e-9), 0.5, x > scores.share)))
        for x in (scores.original, scores.released)
    ]
    return (1 - above[0] + above[1]) / 2
