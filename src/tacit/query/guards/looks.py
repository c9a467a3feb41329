"""How precisely the sizes of small groups may be known."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query._look_beyond import effects
from tacit.query._look_precision import Telling
from tacit.query._look_table import Grids, Level, LookTable
from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.group_looks import GroupLooks
from tacit.query.guard import Context, Guard, Memory, Stage


class LimitedLooks(
    Guard,
    key="looks",
    title="Limit of looks at small groups",
    cites=("asghar2019",),
):
    r"""Withhold cells that would tell too precisely how large a small group is.

    Tables of a group by one variable after another are noisy sums of the same group, and the noise
    averages out. For every group the server keeps what all answers to all users tell about it,
    and withholds new cells that would tell more than `most` looks at the group alone. What was
    shown before stays. What depends on groups outside the table refuses it.

    Distinct units are counted, missing values are a category, weights play no part. A unit may be
    a household.

    Notes
    -----
    Let :math:`x_c` be the released value of cell c and :math:`v_c` the variance of its noise. A
    group G of value :math:`x_G` is known from the cells inside it with a precision of

    .. math:: p_G = \sum_{c \subseteq G} x_c^2 / v_c \; / \; x_G^2

    at most: k equal cells tell 1/k of what the group itself does. A margin M less the other cells
    of its line tells :math:`q = 1 / (1/p_M' + 1/p_{M \setminus G})`, where :math:`p_M'` leaves out
    the cells of the line. All together this is :math:`p_G \prod (1 + q / p_G)` over the variables
    that describe G, which is what generalised least squares achieves where all tables are
    complete. It is compared with :math:`1/v_G`, the precision of one look. The size of a group is
    then named with a probability of about :math:`2 \Phi(\sqrt{W} / 2 \sigma) - 1` for W looks: for
    a standard deviation of 4, 0.10 for one and 0.15 for 2.25. The attack by many splits is that
    of [asghar2019]_.

    Sizes are taken as released, with their noise, so that what is withheld tells no more about a
    group than these numbers.

    Examples
    --------
    >>> LimitedLooks().key
    'looks'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "tables"
    stops: ClassVar[str] = "averaging over tables of one small group, margins included (T8)"
    misses: ClassVar[str] = "sizes of large groups"
    costs: ClassVar[str] = (
        "after the first few ways to divide a small group, further ones are withheld"
    )
    most: Annotated[float, Ge(1)] = 2.1
    """Most looks at a group, as many as would tell what all answers together do."""
    largest: Annotated[int, Ge(0)] = 500
    """Groups of more units may be known more precisely; 0 protects groups of any size."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with cells withheld that would tell too much, or refuse."""
        cells = context.cells
        if cells is None or not len(cells) or not cells.change_scale:
            return context
        looks = context.state.kept.setdefault(self.key, GroupLooks())
        every = tuple(cells.levels)
        levels = every if request.tells_margins else every[:1]
        table = LookTable(cells, context, looks, levels)
        hidden = cells.hidden
        told = [self._telling("count", table)]
        shown = self._allowed(told[0], table.grids(~cells.hidden))
        cells = cells.withholding(_withheld(table, shown))
        given = [shown]
        for name in cells.sums:
            told.append(self._telling(name, table))
            may = ~(cells.hidden | cells.withheld_totals.get(name, np.zeros(len(cells), bool)))
            given.append(self._allowed(told[-1], table.grids(may)))
            cells = cells.withholding_totals(name, _withheld(table, given[-1]))
        return self._answered(context, cells, hidden, list(zip(told, given, strict=True)))

    def _answered(
        self,
        context: Context,
        cells: Cells,
        hidden: np.ndarray,
        told: list[tuple[Telling, Grids]],
    ) -> Context:
        """Return the context with what may be shown, and remember it on release."""
        for telling, shown in told:
            context = context.and_then(partial(_remember, telling, shown))
        if np.array_equal(cells.hidden, hidden) and len(told) == 1:
            return context
        if not any(grid.any() for grid in told[0][1].values()) and _shows(told[0][0], hidden):
            raise self.refuse(
                "enough is known about small groups that the table divides",
                "use coarser variables, or tables that were asked before",
            )
        note = "Cells are withheld where enough is known about small groups that hold them."
        return context.amended(note, evidence=cells)

    def _telling(self, name: str, table: LookTable) -> Telling:
        """Return what the cells tell of the number of units, or of a total."""
        cells = table.cells
        counts = np.maximum(cells.n + (0 if cells.change is None else cells.change), 1.0)
        values, variance = counts, np.full(len(cells), cells.change_scale**2)
        if name in cells.sums and name != "count":
            values = np.maximum(np.abs(cells.noisy_total(name)), 1e-9)
            variance = cells.total_noise_size(name) ** 2
        return Telling(
            table, name, table.grids(values), table.grids(variance), table.grids(counts),
            cells.change_scale, self.largest or np.inf,
        )  # fmt: skip

    def _allowed(self, telling: Telling, shown: Grids) -> Grids:
        """Return which cells may be shown, so that no small group is known too precisely."""
        table = telling.table
        shown = {level: shown[level].astype(bool) for level in table.told}
        if not telling.tells_more(shown):
            return shown  # all of it was told before
        before = telling.looks(None)
        fresh = {level: ~telling.is_known(level, (), level) for level in table.told}
        # The finest cells go first, then margins, then what is beside a group.
        steps = [(0, depth) for depth in sorted({len(level) for level in table.told}, reverse=True)]
        for step in (*steps, *((reach + 1, 0) for reach in range(len(table.cells.by)))):
            over = self._over(telling, before, shown)
            if not any(mask.any() for mask in over.values()):
                break
            shown = dict(shown)
            for kept, mask in over.items():
                _withhold(table, shown, fresh, (kept, mask), step)
        return shown

    def _over(self, telling: Telling, before: Grids, shown: Grids) -> Grids:
        """Return where small groups would be known too precisely, and better than before."""
        found = {}
        for kept, looks in telling.looks(shown).items():
            small = telling.counts[kept] <= telling.largest
            found[kept] = small & (looks > self.most + 1e-9) & (looks > before[kept] + 1e-9)
        for effect in effects(telling, shown):
            found[effect.kept] = found[effect.kept] | effect.gained(self.most)
        return found


def _shows(telling: Telling, hidden: np.ndarray) -> bool:
    """Whether other rules left anything of the table."""
    table = telling.table
    return any(bool((~hidden[table.place[level]]).any()) for level in table.told)


def _remember(telling: Telling, shown: Grids) -> None:
    """Write down what was told about the groups of a table, and about others."""
    if not telling.tells_more(shown):
        return
    for effect in list(effects(telling, shown)):
        telling.table.looks.read(telling.statistic, effect.keys, None, effect.after)
    telling.remember(shown)


def _withhold(
    table: LookTable,
    shown: Grids,
    fresh: Grids,
    groups: tuple[Level, np.ndarray],
    step: tuple[int, int],
) -> None:
    """Take new cells of some depth inside some groups out of what is shown, or in their margins."""
    (kept, mask), (reach, depth) = groups, step
    for away in combinations(range(len(kept)), min(reach, len(kept))):
        wider = tuple(j for axis, j in enumerate(kept) if axis not in away)
        found = np.asarray(mask.any(axis=away)) if away else mask
        for level in table.inside(wider):
            if len(level) >= depth:
                shown[level] = shown[level] & ~(table.spread(found, wider, level) & fresh[level])


def _withheld(table: LookTable, shown: Grids) -> np.ndarray:
    """Return which cells are not shown; margins that are not released stay as they are."""
    found = np.zeros(len(table.cells), dtype=bool)
    for level in table.told:
        found[table.place[level]] = ~shown[level].ravel()
    return found
