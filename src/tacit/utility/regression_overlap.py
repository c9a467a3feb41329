"""Regressions on the original and on the release, and how far their intervals overlap."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from tacit.core.common_scale import as_text
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind
from tacit.utility._least_squares import Fit

_MOST = 5
"""New categories that are named."""


class RegressionOverlap(
    Utility,
    key="regression-overlap",
    title="Overlap of regression intervals",
    cites=("karr2006",),
    example={"response": "income", "predictors": ["age", "hours", "sex"]},
):
    r"""Measure whether a regression on the release gives the coefficients of the original.

    1 means equal confidence intervals of every coefficient, 0 intervals that do not meet.

    Missing values: records with a gap in the model's columns are left out of that file's fit and
    counted. Weights: least squares are weighted where the schema has a weight. Households: not
    considered; intervals are those of independent records.

    Notes
    -----
    With :math:`[l_o, u_o]` and :math:`[l_r, u_r]` the intervals of a coefficient and
    :math:`[l, u]` their intersection [karr2006]_,

    .. math:: J = \frac12 \left( \frac{u - l}{u_o - l_o} + \frac{u - l}{u_r - l_r} \right),

    negative gaps counting as 0. The value is the mean over the coefficients, the intercept left
    out. Categories enter by indicators; the most frequent category of the original is the
    reference. A category that the release no longer has counts as no overlap, and so do all of a
    variable whose reference is gone; a new one gets a coefficient of its own, which nothing is
    compared with. Coefficients that the original does not determine are left out.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(500)
    >>> model = utility.RegressionOverlap(response="income", predictors=["age", "hours"])
    >>> model.measure(data, data).value
    1.0
    """

    default = False

    response: str
    """The numeric variable that the regression explains."""
    predictors: Columns
    """The variables that explain it, of any kind."""
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    """Confidence level of the intervals."""

    def objection(self, original: Microdata) -> str | None:
        """Say which column of the model is not there."""
        missing = [c for c in (self.response, *self.predictors) if c not in original.schema]
        return f"no column {missing[0]!r}" if missing else None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean overlap of the coefficients' intervals."""
        both = pair(original, release)
        for side in (both.original, both.released):
            side.schema.require([self.response], kinds=[Kind.NUMERIC], by=self.key)
            side.schema.require(self.predictors)
        before = Fit.of(both.original, self.response, self.predictors)
        after = Fit.of(both.released, self.response, self.predictors, like=before)
        names = [name for name in before.names if name and not np.isnan(before.coefficient(name))]
        rows = [_compared(name, before, after, self.level) for name in names]
        if not rows:
            raise DataError("the regression has no coefficient to compare")
        value = float(np.mean([row["overlap"] for row in rows]))
        worst = min(rows, key=lambda row: row["overlap"])
        return Measurement(
            key=self.key, title=self.title, value=value, better="higher", bounds=(0.0, 1.0),
            details={
                "coefficients": rows, "r_squared": [before.r_squared, after.r_squared],
                "left_out": [before.n_left_out, after.n_left_out],
                "not_determined": [n for n in before.names if n and n not in names],
                "new_in_release": [n for n in after.names if n not in before.names],
            },
            explanation=(
                f"In the regression of {self.response} on {', '.join(self.predictors)} the "
                f"confidence intervals of original and release overlap by {100 * value:.0f} % on "
                f"average, least for {worst['name']} ({100 * worst['overlap']:.0f} %)."
            ),
            warnings=_warnings(both, before, after, rows),
        )  # fmt: skip


def _warnings(both: Pair, before: Fit, after: Fit, rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Say where the model could not be fitted to the release as it was to the original."""
    said = []
    new = [name for name in after.names if name not in before.names]
    if new:
        said.append(
            f"Not in the original, and given coefficients of their own: {', '.join(new[:_MOST])}"
            f"{' and others' if len(new) > _MOST else ''}. No original coefficient covers them."
        )
    for name, reference in before.references.items():
        labels = as_text(both.released.local[name])
        if not (labels == reference).fill_null(False).any():
            said.append(
                f"The release has no record with {name} = {reference}, with which the other "
                f"categories of {name} are compared: their coefficients count as lost."
            )
    lost = [row["name"] for row in rows if np.isnan(row["release"])]
    if lost:
        said.append(f"The release does not determine the coefficients of {', '.join(lost)}.")
    return tuple(said)


def _compared(name: str, before: Fit, after: Fit, level: float) -> dict[str, Any]:
    old, new = before.interval(name, level), after.interval(name, level)
    return {
        "name": name,
        "original": before.coefficient(name),
        "release": after.coefficient(name),
        "overlap": interval_overlap(old, new),
    }


def interval_overlap(old: tuple[float, float], new: tuple[float, float]) -> float:
    """Return the average share that the common part has of two intervals.

    Examples
    --------
    >>> interval_overlap((0.0, 2.0), (1.0, 2.0))
    0.75
    >>> interval_overlap((0.0, 1.0), (2.0, 3.0))
    0.0
    """
    if any(np.isnan(bound) for bound in (*old, *new)):
        return 0.0
    common = min(old[1], new[1]) - max(old[0], new[0])
    widths = (old[1] - old[0], new[1] - new[0])
    if max(widths) <= 1e-12 * max(1.0, abs(old[0])):
        return float(np.isclose(old[0], new[0], rtol=1e-9))
    if common <= 0 or min(widths) <= 0:
        return 0.0
    return float(0.5 * (common / widths[0] + common / widths[1]))
