"""Averaging: the same table with new noise each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import TableTarget

if TYPE_CHECKING:
    from tacit.tables import ProtectedTable, Table


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
        return None if _copies(target) else "there is only one version of each table"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Compare the rounded mean of all copies with the truth."""
        groups = _copies(target)
        parts = [_averaged(copies) for copies in groups]
        right, first, cells = (np.concatenate(side) for side in zip(*parts, strict=True))
        return Outcome(
            hits=right.astype(float), guesses=first.astype(float), unit="cell", positions=cells,
            question=f"Average up to {max(map(len, groups))} copies of the same table",
            worst=f"{int((right & ~first).sum())} counts that one copy hides are right on average",
            details={"copies": [len(copies) for copies in groups]},
        )  # fmt: skip


def _copies(target: TableTarget) -> list[list[ProtectedTable]]:
    """Return the tables that are versions of the same one, where there are several."""
    groups: list[list[ProtectedTable]] = []
    for table in target.tables:
        same = (group for group in groups if _is_same(group[0].original, table.original))
        group = next(same, None)
        if group is None:
            groups.append([table])
        else:
            group.append(table)
    return [group for group in groups if len(group) > 1]


def _is_same(one: Table, other: Table) -> bool:
    names = [[d.name for d in table.dimensions] for table in (one, other)]
    return names[0] == names[1] and np.array_equal(one.value, other.value)


def _averaged(copies: list[ProtectedTable]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Say which cells are right on average, which in the first copy, and which cells they are."""
    truth, stacked = copies[0].original.value, np.array([copy.published for copy in copies])
    seen = np.isfinite(stacked).any(axis=0)
    mean = np.nanmean(stacked[:, seen], axis=0)
    integral = bool(np.all(truth == np.round(truth)))
    right = np.isclose(np.round(mean) if integral else mean, truth[seen], rtol=1e-9)
    first = np.isclose(np.nan_to_num(stacked[0, seen], nan=-1.0), truth[seen], rtol=1e-9)
    return right, first, np.flatnonzero(seen)
