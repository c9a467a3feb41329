"""Tables of counts and totals."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MaxLen

from tacit.core.method import Columns
from tacit.query.analysis import Analysis, Names, Needs, View
from tacit.query.answer import Answer
from tacit.query.evidence import Cells
from tacit.query.publication import accuracy, counts, labels, shown, totals


class Crosstab(
    Analysis,
    key="crosstab",
    title="Cross-tabulation",
    cites=("lucero2011",),
    example={"by": ["sex", "employed"]},
):
    """Count the units in every combination of categories, and add up variables over them.

    Missing codes are a category of their own; missing values are left out of totals. Weighted
    counts are numbers of units in the population. Households: a unit may be one.

    Examples
    --------
    >>> Crosstab(by=["sex", "region"], universe={"employed": "true"}).as_step()["by"]
    ['sex', 'region']
    """

    by: Annotated[Columns, MaxLen(6)]
    """Variables whose categories are the dimensions, at most six."""
    totals: Annotated[Names, MaxLen(10)] = ()
    """Numeric variables that are added up over the cells."""
    weighted: bool = False
    """Whether survey weights are used."""
    margins: bool = False
    """Whether totals over dimensions are released as well."""

    @property
    def tells_margins(self) -> bool:
        """Whether totals over dimensions are released as well."""
        return self.margins

    def variables(self) -> Needs:
        """Return dimensions and variables."""
        return Needs(self.by, self.totals, self.weighted)

    def gather(self, view: View) -> Cells:
        """Ask for the table; margins are always checked, and released where asked for."""
        return view.table(self.by, totals=self.totals, weighted=self.weighted)

    def compute(self, evidence: Any) -> Answer:
        """Return the cells that may be shown."""
        cells: Cells = evidence
        rows = shown(cells, self.margins)
        columns = labels(cells, rows)
        columns["count"] = counts(cells, rows)
        for name in self.totals:
            columns |= totals(cells, name, rows)
        return Answer(analysis=self.key, columns=columns, accuracy=accuracy(cells))
