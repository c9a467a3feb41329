"""Histograms over the predetermined bins."""

from __future__ import annotations

from typing import Any

from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.evidence import Cells
from tacit.query.publication import accuracy, counts, labels, shown


class Histogram(
    Analysis,
    key="histogram",
    title="Histogram",
    cites=("lucero2011",),
    example={"number": "income"},
):
    """Count the units in each bin of a numeric variable; bins are the server's, edges are open.

    The first and last bin have no outer edge, so that no extreme value can be read off. Missing
    values are a bin of their own. Households: a unit may be one.

    With weights, figures are those of the population.

    Examples
    --------
    >>> Histogram(number="income").as_step()
    {'method': 'histogram', 'number': 'income'}
    """

    number: str
    """Variable whose distribution is shown."""
    by: str | None = None
    """Variable whose categories get a histogram each."""
    weighted: bool = False
    """Whether survey weights are used."""

    @property
    def tells_margins(self) -> bool:
        """No: bins only."""
        return False

    def variables(self) -> Needs:
        """Return the variable, as one that has bins."""
        return Needs(self._by, (self.number,), self.weighted)

    @property
    def _by(self) -> tuple[str, ...]:
        return (self.number,) if self.by is None else (self.by, self.number)

    def gather(self, view: View) -> Cells:
        """Ask for the counts by bin."""
        return view.table(self._by, weighted=self.weighted)

    def compute(self, evidence: Any) -> Answer:
        """Return one row for each bin."""
        cells: Cells = evidence
        rows = shown(cells, margins=False)
        columns = labels(cells, rows) | {"count": counts(cells, rows)}
        return Answer(analysis=self.key, columns=columns, accuracy=accuracy(cells))
