"""Tests of independence."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen, MinLen

from tacit.core.method import Columns
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.evidence import Cells
from tacit.query.publication import accuracy, shown


class ChiSquare(
    Analysis,
    key="chi2",
    title="Chi-square test of independence",
    cites=("lucero2011",),
    example={"by": ["sex", "employed"]},
):
    r"""Test whether two variables are independent, from the released table.

    The statistic is computed from guarded counts, so that it says nothing the table does not; a
    withheld cell counts as its expectation from the released ones. Missing codes are a category.
    Weights are not used: the test is of the sample. Households: a unit may be one.

    Notes
    -----
    :math:`X^2 = \sum (n_{ij} - e_{ij})^2 / e_{ij}` with :math:`(r-1)(c-1)` degrees of freedom.
    Noise of variance V adds about :math:`V \sum 1/e_{ij}` to its expectation.

    Examples
    --------
    >>> ChiSquare(by=["sex", "employed"]).as_step()
    {'method': 'chi2', 'by': ['sex', 'employed']}
    """

    by: Annotated[Columns, MinLen(2), MaxLen(2)]
    """The two variables."""

    @property
    def tells_margins(self) -> bool:
        """No: all comes from the cells."""
        return False

    def variables(self) -> Needs:
        """Return the two variables."""
        return Needs(self.by)

    def gather(self, view: View) -> Cells:
        """Ask for the table."""
        return view.table(self.by)

    def compute(self, evidence: Any) -> Answer:
        """Return the statistic, its degrees of freedom and the probability."""
        from scipy.stats import chi2

        cells: Cells = evidence
        shape = tuple(len(words) for words in cells.labels)
        table = cells.count[shown(cells, margins=False)].reshape(shape)
        kept = np.nan_to_num(table)
        rows, columns = kept.sum(axis=1) > 0, kept.sum(axis=0) > 0
        kept, known = kept[rows][:, columns], ~np.isnan(table)[rows][:, columns]
        freedom = max(kept.shape[0] - 1, 0) * max(kept.shape[1] - 1, 0)
        if not freedom:
            return Answer(analysis=self.key, values={"statistic": None, "freedom": 0})
        expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / kept.sum()
        statistic = float((((kept - expected) ** 2 / expected)[known]).sum())
        values = {
            "statistic": round(statistic, 3),
            "freedom": freedom,
            "probability": float(f"{chi2.sf(statistic, freedom):.3g}"),
        }
        return Answer(analysis=self.key, values=values, accuracy=accuracy(cells))
