"""Groups outside a table that its cells tell something about.

They have fewer conditions than its universe, another category in one of them, or one condition
more: a margin that is known better tells more about the cells of its lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.query._look_precision import Shown, Telling, complement
from tacit.query._look_table import MOST_SIBLINGS, Condition, Grids, Level
from tacit.query.group_looks import described


@dataclass(frozen=True, eq=False)
class Effect:
    """How precisely groups outside the table were and would be known; grids end as the level."""

    kept: Level
    keys: np.ndarray
    before: np.ndarray
    after: np.ndarray
    small: np.ndarray

    def gained(self, most: float) -> np.ndarray:
        """Return for which groups of the table one outside would be known too precisely."""
        over = self.small & (self.after > most + 1e-9) & (self.after > self.before + 1e-9)
        return np.asarray(over.reshape(-1, *over.shape[over.ndim - len(self.kept) :]).any(axis=0))


def effects(telling: Telling, shown: Shown) -> Iterator[Effect]:
    """Return all that the cells shown would tell about groups outside the table."""
    for left_out in ((), *telling.table.without()):
        if left_out:
            yield from _wider(telling, left_out, shown)
        for kept in (kept for kept, away in telling.groups() if away == left_out):
            if not telling.added(kept, left_out, shown).any():
                continue
            for condition in telling.turned(kept, left_out) if len(left_out) < 2 else ():
                yield _turned(telling, kept, (condition, *left_out), shown)
            for variable in _further(telling, kept, left_out):
                yield _finer(telling, kept, left_out, variable, shown)


def _wider(telling: Telling, left_out: tuple[Condition, ...], shown: Shown) -> Iterator[Effect]:
    """Return the effect on groups with fewer conditions: on their cells and margins."""
    levels = [kept for kept, away in telling.groups() if away == left_out]
    small = {k: telling.is_small(telling.value(k, left_out), k) for k in levels}
    if not any(grid.any() for grid in small.values()):
        return
    old, new = (_of_wider(telling, left_out, given) for given in (None, shown))
    for kept, looks in old.items():
        keys = telling.keys(kept, left_out)
        before = telling.table.looks.looks(telling.statistic, keys, looks)
        after = before + np.maximum(new[kept] - looks, 0.0)
        yield Effect(kept, keys, before, after, small[kept])


def _of_wider(telling: Telling, left_out: tuple[Condition, ...], shown: Shown) -> Grids:
    """Return looks at groups with fewer conditions; far from the table, by cells inside alone."""
    if len(left_out) == 1:
        return telling.looks(shown, left_out)
    levels = [kept for kept, away in telling.groups() if away == left_out]
    return {
        kept: telling.squares(kept, left_out, shown)
        / telling.value(kept, left_out) ** 2
        * telling.variance[kept]
        for kept in levels
    }


def _turned(telling: Telling, kept: Level, left_out: tuple[Condition, ...], shown: Shown) -> Effect:
    """Return the effect on groups that differ in one condition: their margin less these."""
    old, new = (telling.across(kept, left_out, given) for given in (None, shown))
    small = telling.is_small(old.values, kept)
    small[left_out[0].place] = False  # a group that has the condition is looked at elsewhere
    known = _scaled(telling, kept, old.keys, old.own, (old.beside, new.beside))
    return Effect(kept, old.keys, *known, small)


def _further(telling: Telling, kept: Level, left_out: tuple[Condition, ...]) -> list[str]:
    """Return the variables outside the request by which groups were divided before."""
    table = telling.table
    here, spoken = table.variables(kept, left_out), table.looks.spoken
    asked = {*table.cells.by, *(c.variable for c in table.conditions)}
    known = table.context.schema.variables
    return [
        name
        for name, variable in known.items()
        if name not in asked and len(variable.labels) <= MOST_SIBLINGS and here | {name} in spoken
    ]


def _finer(
    telling: Telling, kept: Level, left_out: tuple[Condition, ...], variable: str, shown: Shown
) -> Effect:
    """Return the effect on cells of groups that are now known better: a margin less the others."""
    table, looks = telling.table, telling.table.looks
    names = table.names(kept, left_out)
    labels = table.context.schema.variable(variable).labels
    marks = np.array([described(variable, label) for label in labels], dtype=np.uint64)
    keys = looks.keys(names[None] + marks.reshape(-1, *[1] * names.ndim))
    squares = looks.squares(telling.statistic, keys)
    values = looks.values(telling.statistic, keys, np.array(np.inf))  # one never read is not known
    wide = telling.keys(kept, left_out)
    whole = telling.value(kept, left_out)
    was = looks.squares(telling.statistic, wide)
    line = squares.sum(axis=0)
    beside = [
        complement(squares, np.minimum(values, whole), line, margin, whole)
        for margin in (was, was + telling.added(kept, left_out, shown))
    ]
    known = _scaled(telling, kept, keys, squares / values**2, (beside[0], beside[1]))
    return Effect(kept, keys, *known, telling.is_small(values, kept))


def _scaled(
    telling: Telling,
    kept: Level,
    keys: np.ndarray,
    own: np.ndarray,
    beside: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return looks before and after: the factor of one dimension changes, the others stay."""
    old, new = ((own + part) * telling.variance[kept] for part in beside)
    before = telling.table.looks.looks(telling.statistic, keys, old)
    grows = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    return before, np.where(old > 0, before * grows, new)
