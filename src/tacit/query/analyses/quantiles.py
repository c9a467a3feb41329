"""Quantiles, read off the released histogram."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BeforeValidator

from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer
from tacit.query.evidence import MARGIN, Cells
from tacit.query.publication import accuracy
from tacit.query.source import MISSING

_OUTER = 0.05


class Quantiles(
    Analysis,
    key="quantiles",
    title="Quantiles",
    cites=("lucero2011",),
    example={"number": "income"},
):
    """Give quantiles of a variable by reading them off its released histogram.

    Within a bin values are taken as evenly spread; a quantile in an outer bin, which has no outer
    edge, is withheld, so that no extreme can be reached. Missing values are left out. With weights
    the quantiles are those of the population. Households: a unit may be one.

    Notes
    -----
    Only guarded counts of the server's own bins are used, each of which holds many units: a
    quantile never rests on one order statistic.

    Examples
    --------
    >>> Quantiles(number="income", probabilities=[0.5]).probabilities
    (0.5,)
    """

    number: str
    """Variable."""
    probabilities: Annotated[
        tuple[Annotated[float, Ge(_OUTER), Le(1 - _OUTER)], ...],
        BeforeValidator(lambda given: (given,) if isinstance(given, float) else given),
        MinLen(1),
        MaxLen(19),
    ] = (0.25, 0.5, 0.75)
    """Which quantiles, from 0.05 to 0.95."""
    weighted: bool = False
    """Whether survey weights are used."""

    @property
    def tells_margins(self) -> bool:
        """No: all comes from the bins."""
        return False

    def variables(self) -> Needs:
        """Return the variable, as one that has bins."""
        return Needs((), (self.number,), self.weighted)

    def gather(self, view: View) -> Cells:
        """Ask for the counts by bin; the cutpoints are public."""
        cells = view.table((self.number,), weighted=self.weighted)
        return cells.with_(edges=view.schema.variable(self.number).edges)

    def compute(self, evidence: Any) -> Answer:
        """Return one row for each probability."""
        cells: Cells = evidence
        inner = (cells.codes[:, 0] != MARGIN) & (
            np.array([cells.label(i)[0] for i in range(len(cells))], dtype=object) != MISSING
        )
        held = np.nan_to_num(cells.count[inner], nan=0.0)
        found = [_quantile(held, cells.edges, p) for p in self.probabilities]
        columns = {"probability": list(self.probabilities), self.number: found}
        return Answer(analysis=self.key, columns=columns, accuracy=accuracy(cells))


def _quantile(held: np.ndarray, edges: tuple[float, ...], probability: float) -> float | None:
    """Return a quantile between two cutpoints, or nothing in an outer bin."""
    below = np.concatenate([[0.0], np.cumsum(np.maximum(held, 0.0))])
    if below[-1] <= 0:
        return None
    aim = probability * below[-1]
    at = int(np.clip(np.searchsorted(below, aim, side="left") - 1, 0, len(held) - 1))
    if at == 0 or at == len(held) - 1:
        return None
    share = (aim - below[at]) / (below[at + 1] - below[at])
    low, high = edges[at - 1], edges[at]
    return float(f"{low + share * (high - low):.4g}")
