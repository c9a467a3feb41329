"""How often noise may be drawn about the same units."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Memory, Stage


class DrawLedger(
    Guard,
    key="ledger",
    title="Limit of noise draws about the same units",
    cites=("asghar2019", "dinur2003"),
):
    r"""Refuse a table once too many different noisy numbers would speak of the same units.

    Every table draws new noise for each of its cells. Averages over many tables approach the true
    count; the ledger bounds how many there can be. What was asked before costs nothing. The
    refusal depends on earlier requests alone, of all users. Weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    With noise of variance V and at most T draws about an atom, an average over bipartitions has a
    variance of at least V / T [asghar2019]_. Tables of many attributes that an attacker knows are
    equations in the one that is secret; with about as many cells as units they can be solved
    [dinur2003]_ whatever the noise of each. What r independent numbers tell about n units is a
    share of at most :math:`r / n` of the variance of the secret. Cells with a bit and without it
    come in pairs, so that of c cells for each unit at most half are independent, and the best
    linear guess of a balanced bit is right with probability

    .. math:: \frac12 + \frac1\pi \arcsin\sqrt{c / 2}

    at most, even without noise: 0.55 for c = 0.05, 0.61 for c = 0.25. Only cells that a variable
    tells apart, in a table or a condition, speak of that variable. Every total over such a cell is
    one more number about it (with a variance, two), and two about the variable that is added up,
    as its numbers do not come in pairs. Those of models are counted by `model-ledger`.

    Examples
    --------
    >>> DrawLedger().key
    'ledger'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "tables"
    stops: ClassVar[str] = (
        "averaging over very many sets (T8); with `cells_per_unit`, reconstruction from "
        "tables of known attributes (T11)"
    )
    misses: ClassVar[str] = "the first few tables"
    costs: ClassVar[str] = "an end: about so many cells for each unit"
    limit: Annotated[int, Ge(1)] = 200
    """Most draws about an atom, for each statistic."""
    cells_per_unit: Annotated[float, Ge(0)] = 0.0
    """Most different cells that a variable may tell apart in all tables together, and totals over
    them, for each unit of the data; 0 is no limit."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse what would exceed the limit; else write it down when the answer is released."""
        cells = context.cells
        if cells is None:
            return context
        ledger = context.state.ledger
        all_new = dict.fromkeys(("count", *cells.sums), np.ones(len(cells), bool))
        fresh = all_new if context.fresh is None else context.fresh
        draws = {statistic: _draws(cells, new, context) for statistic, new in fresh.items()}
        about = {s: _about(cells, new, s, request, context) for s, new in fresh.items()}
        too_much = self._is_too_much(sum(about.values(), Counter()), context)
        if too_much or any(self._exceeds(ledger.of(s), d, context) for s, d in draws.items()):
            raise self.refuse(
                "too much has been asked about these units already",
                "use tables that were asked before",
            )
        for statistic in fresh:
            note = partial(ledger.add, statistic, draws[statistic], about=about[statistic])
            context = context.and_then(note)
        return context

    def _is_too_much(self, about: Counter[str], context: Context) -> bool:
        """Whether too many numbers would depend on some variable for the number of units."""
        most = self.cells_per_unit * context.state.cube.engine.n_units
        return self.cells_per_unit > 0 and context.state.ledger.would_exceed(about, most)

    def _exceeds(self, before: np.ndarray, draws: np.ndarray, context: Context) -> bool:
        """Whether some atom of the universe would have too many draws."""
        if int(before.max(initial=0)) + int(draws.max(initial=0)) <= self.limit:
            return False  # most requests, without looking at the atoms of the universe
        return bool(np.any((before + draws)[context.selection.atoms] > self.limit))


def _about(
    cells: Cells, new: np.ndarray, statistic: str, request: Analysis, context: Context
) -> Counter[str]:
    """Return how many new numbers depend on each variable, in the table or in its universe."""
    about: Counter[str] = Counter()
    times, start = 1 if statistic == "count" else request.numbers_of_totals, 0
    for kept in cells.levels:
        size = cells.level_size(kept)
        found = int(new[start : start + size].sum())
        told = {*context.selection.names, *(cells.by[j] for j in kept)} - {statistic}
        about.update(dict.fromkeys(told, times * found))
        if statistic != "count":
            about[statistic] += 2 * found
        start += size
    return about


def _draws(cells: Cells, new: np.ndarray, context: Context) -> np.ndarray:
    """Return how many new cells speak of each atom."""
    chosen = context.selection
    cube = context.state.cube.over((*chosen.names, *cells.by))
    inside = cube.mask(chosen.pieces)
    draws = np.zeros(len(cube), dtype=np.int64)
    start = 0
    for kept in cells.levels:
        place = cube.cell_in(cells, kept)
        size, known = cells.level_size(kept), inside & (place >= 0)
        draws[known] += new[start : start + size][place[known]]
        start += size
    return cube.whole(draws)
