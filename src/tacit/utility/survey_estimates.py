"""Estimates that a survey is made for: totals, means, shares, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind
from tacit.utility._domains import Domains, recoded
from tacit.utility._numbers import finite, numeric_columns
from tacit.utility._survey_design import SurveyDesign
from tacit.utility._tables import recoded_warnings, tabulated_columns, text_warnings
from tacit.utility.regression_overlap import interval_overlap

_N_WORST = 10
_FEWEST = 5
"""Categories of fewer original records are not named."""


class SurveyEstimates(
    Utility,
    key="survey-estimates",
    title="Overlap of survey estimates",
    cites=("karr2006", "sarndal1992"),
    example={"columns": ["income", "hours", "sex", "education"]},
):
    r"""Measure whether totals, means and shares of the release have the intervals of the original.

    1 means the same confidence interval for every estimate, 0 intervals that do not meet.

    Missing values: left out, the mean being over the values there. Weights: used where both files
    have them. Households: where both files have them, the records of a household are a cluster;
    strata of the schema are used too.

    Notes
    -----
    With weights :math:`w_i`, the total is :math:`\sum_i w_i y_i` and the mean
    :math:`\bar y = \sum_i w_i y_i / \sum_i w_i`; a share is the mean of an indicator. Their
    variances are those of clusters drawn with replacement within strata [sarndal1992]_,

    .. math:: \sum_h \frac{n_h}{n_h - 1} \sum_{c=1}^{n_h} (u_{hc} - \bar u_h)^2,

    :math:`u_{hc}` being the sum over a cluster of :math:`w_i y_i` or, for a mean, of
    :math:`w_i (y_i - \bar y)/\sum_j w_j`. The value is the mean overlap of the intervals, as for
    regression coefficients [karr2006]_. Numbers give a mean and a total, categories a share each.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(400)
    >>> utility.SurveyEstimates(columns=["income", "sex"]).measure(data, data).value
    1.0
    """

    default = False

    columns: Columns | None = None
    """Columns to estimate; by default all numbers and categories that both files have."""
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    """Confidence level of the intervals."""

    def objection(self, original: Microdata) -> str | None:
        """Say that the file has no record or no column to estimate."""
        if original.n_records == 0:
            return "the file has no record to compare"
        usual = [*numeric_columns(original), *tabulated_columns(pair(original))]
        return None if self.columns or usual else "no column to estimate"

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean overlap of the intervals of all estimates."""
        from scipy.special import ndtri

        both = pair(original, release)
        if min(both.original.n_records, both.released.n_records) < 2:
            raise DataError(f"{self.key} needs at least two records in each file")
        half = float(ndtri(0.5 + self.level / 2))
        columns = self._columns(both)
        designs = SurveyDesign.of_both(both)
        rows = [row for name in columns for row in _estimates(both, name, designs, half)]
        if not rows:
            raise DataError(f"{self.key} finds no estimate to compare", do="name the columns")
        value = float(np.mean([row["overlap"] for row in rows]))
        worst = sorted(rows, key=lambda row: (row["overlap"], row["what"]))[:_N_WORST]
        return Measurement(
            key=self.key, title=self.title, value=value, better="higher", bounds=(0.0, 1.0),
            details={
                "columns": columns, "estimates": len(rows), "level": self.level,
                "no_overlap": sum(row["overlap"] == 0 for row in rows),
                "worst": [row for row in worst if row["overlap"] < 1],
            },
            explanation=(
                f"The confidence intervals of {len(rows)} totals, means and shares overlap by "
                f"{100 * value:.0f} % on average, least for the {worst[0]['what']} "
                f"({100 * worst[0]['overlap']:.0f} %)."
            ),
            warnings=self._left_out(both),
        )  # fmt: skip

    def _left_out(self, both: Pair) -> tuple[str, ...]:
        """Say which columns of the release do not compare, and what became of them."""
        if not self.columns:
            return recoded_warnings(recoded(both, tabulated_columns(both)), "left out")
        categories = [c for c in self.columns if both.kinds(c) != {Kind.NUMERIC}]
        other = recoded(both, categories)
        text = [c for c in categories if both.original.schema[c].kind == Kind.NUMERIC]
        return (
            *recoded_warnings(other, "its shares count as lost"),
            *text_warnings([c for c in text if c not in other]),
        )

    def _columns(self, both: Pair) -> list[str]:
        if self.columns:
            for side in (both.original, both.released):
                side.schema.require(self.columns)
            return list(self.columns)
        released = set(numeric_columns(both.released))
        numbers = [c for c in numeric_columns(both.original) if c in released]
        categories = [c for c in tabulated_columns(both) if c not in numbers]
        other = recoded(both, categories)
        return [*numbers, *(c for c in categories if c not in other)]


def _estimates(
    both: Pair, name: str, designs: tuple[SurveyDesign, SurveyDesign], half: float
) -> Iterator[dict[str, Any]]:
    """Estimate one column in both files."""
    old, new = designs
    kinds = {side.schema[name].kind for side in (both.original, both.released)}
    if kinds == {Kind.NUMERIC}:
        by = SurveyEstimates.key
        before, after = (finite(s, [name], by=by)[:, 0] for s in (both.original, both.released))
        yield _row(f"mean of {name}", old.mean(before), new.mean(after), half)
        yield _row(f"total of {name}", old.total(before), new.total(after), half)
        return
    domains = Domains.of(both, [name])
    sizes = np.bincount(domains.before, minlength=len(domains.labels))
    for d in np.flatnonzero(sizes >= _FEWEST):
        before, after = (domains.before == d).astype(float), (domains.after == d).astype(float)
        yield _row(f"share of {domains.labels[d]}", old.mean(before), new.mean(after), half)


def _row(
    what: str, old: tuple[float, float], new: tuple[float, float], half: float
) -> dict[str, Any]:
    (a, a_error), (b, b_error) = old, new
    overlap = interval_overlap(
        (a - half * a_error, a + half * a_error), (b - half * b_error, b + half * b_error)
    )
    if np.isnan(a) and np.isnan(b):
        overlap = 1.0
    return {
        "what": what, "original": a, "release": b, "original_error": a_error,
        "release_error": b_error, "overlap": float(overlap),
    }  # fmt: skip
