"""Averaging: the same table with new noise each time."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import TableTarget


class AveragingCopies(
    Attack,
    key="table-averaging",
    title="Averaging of perturbed copies",
    cites=("fraser2006", "giessing2011"),
):
    r"""Average several perturbed versions of the same table.

    Missing values: a cell is averaged over the copies that publish it. Weights: as the tables have
    them. Households: not considered.

    Notes
    -----
    The mean of :math:`m` independent copies has noise of variance :math:`\sigma^2 / m`, so that
    rounding gives the count back with chance :math:`2\Phi(\sqrt m / 2\sigma) - 1`. Noise that
    sticks to the units of a cell [fraser2006]_ is the same in all copies and does not fall.
    Guessing takes the first copy for the truth.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> copies = [table.protect(tables.CellKey()) for _ in range(3)]
    >>> attack.AveragingCopies().run(copies).leaked
    False
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = "Use noise that sticks to the units of a cell (tables.CellKey)."

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no copies."""
        first = target.tables[0].original
        same = [t for t in target.tables if np.array_equal(t.original.value, first.value)]
        return None if len(same) > 1 else "there is only one version of each table"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Compare the rounded mean of all copies with the truth."""
        truth = target.tables[0].original.value
        copies = [t.published for t in target.tables if np.array_equal(t.original.value, truth)]
        stacked = np.array(copies)
        seen = np.isfinite(stacked).any(axis=0)
        mean = np.nanmean(stacked[:, seen], axis=0)
        integral = bool(np.all(truth == np.round(truth)))
        estimate = np.round(mean) if integral else mean
        right = np.isclose(estimate, truth[seen], rtol=1e-9)
        first = np.isclose(np.nan_to_num(stacked[0, seen], nan=-1.0), truth[seen], rtol=1e-9)
        return Outcome(
            hits=right.astype(float), guesses=first.astype(float), unit="cell",
            question=f"Average {len(copies)} copies of the same table",
            positions=np.flatnonzero(seen),
            worst=f"{int((right & ~first).sum())} counts that one copy hides are right on average",
            details={"copies": len(copies)},
        )  # fmt: skip
