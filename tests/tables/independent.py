"""Attackers and optima by other roads than the package's: full systems, enumeration, one big MILP.

Nothing here uses the package's reductions, its solver interface or its cuts.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tacit.tables import Dimension, Table
from tacit.tables._grid import grid_codes, grid_relations


def flat_table(inner, **parts) -> Table:
    """A cross-classification with all margins from its inner cells."""
    inner = np.asarray(inner, dtype=float)
    dimensions = tuple(
        Dimension.flat(f"d{axis}", [f"{'abcdefgh'[axis]}{i}" for i in range(size)])
        for axis, size in enumerate(inner.shape)
    )
    full = inner
    for axis in range(inner.ndim):
        full = np.concatenate([full.sum(axis=axis, keepdims=True), full], axis=axis)
    codes, relations = grid_codes(dimensions), grid_relations(dimensions)
    return Table(full.ravel(), relations, dimensions, codes, "turnover", **parts)


def interval(table: Table, hidden, cell, known=()) -> tuple[float, float]:
    """Least and largest value of a cell, or of a sum of several: all cells are variables.

    Published ones are pinned.
    """
    lower, upper = (side.copy() for side in table.bounds)
    pinned = ~np.asarray(hidden)
    pinned[list(known)] = True
    lower[pinned] = upper[pinned] = table.value[pinned]
    limits = [
        (a if a > -np.inf else None, b if b < np.inf else None)
        for a, b in zip(lower, upper, strict=True)
    ]
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(table.n_cells)
        cost[cell] = sign
        found = linprog(
            cost, A_eq=table.relations.toarray(), b_eq=np.zeros(table.relations.shape[0]),
            bounds=limits, method="highs",
        )  # fmt: skip
        ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
    return ends[0], ends[1]


def integer_interval(table: Table, hidden, cell: int) -> tuple[float, float]:
    """Least and largest value of a cell over all whole non-negative tables that fit."""
    relations = table.relations.toarray()
    at = np.flatnonzero(hidden)
    most = int(table.value.max())
    grids = np.array(list(product(range(most + 1), repeat=len(at))), dtype=float)
    rest = relations[:, ~np.asarray(hidden)] @ table.value[~np.asarray(hidden)]
    fits = np.all(np.abs(grids @ relations[:, at].T + rest) < 1e-9, axis=1)
    seen = grids[fits][:, list(at).index(cell)]
    return seen.min(), seen.max()


def is_safe(table: Table, sensitive, hidden, attacks=()) -> bool:
    """Whether the intervals of all sensitive cells, and of extra attacks, reach their levels."""
    jobs = [(cell, ()) for cell in sensitive.primary] + list(attacks)
    for cell, known in jobs:
        x = table.value[cell]
        low, high = interval(table, hidden, cell, known)
        slack = 1e-6 * max(abs(x), 1.0)
        if low > x - sensitive.below[cell] + slack or high < x + sensitive.above[cell] - slack:
            return False
        if high - low < max(sensitive.width[cell], 1e-5):
            return False
    return True


def owners(table: Table) -> dict[int, int]:
    """For each cell with one respondent, who it is."""
    units = table.respondents
    alone = np.flatnonzero(units.n_units == 1)
    return {int(cell): int(units.unit[cell, 0]) for cell in alone}


def respondent_failures(table: Table, sensitive, hidden) -> set[int]:
    """Sensitive cells that outsiders or single respondents narrow down, by trying everybody.

    Every respondent who is alone in hidden cells attacks every sensitive cell, and every sum of
    innermost sensitive cells in which the same other respondent is alone. Whoever knows one part
    of a sum and lacks only one cell or one respondent's cells attacks these instead.
    """
    owner = owners(table)
    primary = [int(cell) for cell in sensitive.primary]
    mine: dict[int, list[int]] = {}
    for cell in primary:
        if cell in owner and not table.is_total[cell]:
            mine.setdefault(owner[cell], []).append(cell)
    goals = [(cell,) for cell in primary]
    goals += [c for cells in mine.values() for n in range(2, len(cells) + 1)
              for c in combinations(cells, n)]  # fmt: skip
    known = {who: [c for c in owner if owner[c] == who and hidden[c]] for who in owner.values()}
    failed = set()
    for cells in goals:
        for who, held in [(None, []), *known.items()]:
            if who is not None and (not held or _is_spared(table, primary, owner, who, cells)):
                continue
            nothing = np.ones(table.n_cells, dtype=bool)
            before = interval(table, nothing, list(cells), held) if held else None
            now = interval(table, hidden, list(cells), held)
            if _is_narrow(table, sensitive, cells, now, before):
                failed |= set(cells)
                break
    return failed


def _is_spared(table, primary, owner, who, cells) -> bool:
    """Whether someone knows the cells itself, or all of the sum but one cell or respondent."""
    if all(owner.get(cell) == who for cell in cells):
        return True
    number = table.respondents.n_units
    for row in table.relations.toarray() if len(cells) == 1 else ():
        parts = [int(c) for c in np.flatnonzero(row > 0) if number[c] > 0]
        rest = [c for c in parts if owner.get(c) != who]
        if row[cells[0]] >= 0 or len(rest) == len(parts):
            continue
        single = {owner.get(c) if c in primary else None for c in rest}
        if len(rest) == 1 or (len(single) == 1 and None not in single):
            return True
    return False


def _is_narrow(table, sensitive, cells, ends, before) -> bool:
    """Whether an interval is too narrow, no wider one being asked than there was before."""
    cells, (low, high) = list(cells), ends
    x, lower, upper = (side[cells].sum() for side in (table.value, *table.bounds))
    lower, upper = (lower, upper) if before is None else before
    below, above, width = (
        side[cells].sum() for side in (sensitive.below, sensitive.above, sensitive.width)
    )
    slack = 1e-6 * max(abs(x), 1.0)
    least = min(max(width, 5e-5 * max(abs(x), 1.0)), upper - lower - slack)
    return bool(
        low > max(x - below, lower) + slack or high < min(x + above, upper) - slack
        or high - low < least
    )  # fmt: skip


def cheapest_by_enumeration(table: Table, sensitive, cost, candidates) -> tuple[float, int]:
    """Cost of the cheapest safe pattern and its number of candidates, the fewest at that cost.

    Patterns in order of cost, of equal ones in order of cells, until one is safe.
    """
    must = sensitive.cells
    n = len(candidates)
    choices = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    prices = choices @ cost[candidates]
    used = np.abs(table.relations.toarray()) > 0
    alone = choices @ used[:, candidates].T + (used & must).sum(axis=1) == 1
    for name in np.lexsort((choices.sum(axis=1), np.round(prices, 6))):
        hidden = must.copy()
        hidden[candidates[choices[name] == 1]] = True
        if alone[name].any():
            continue  # the only cell left out of a sum is known: exposed, or left out for nothing
        if is_safe(table, sensitive, hidden):
            return float(prices[name]), int(choices[name].sum())
    return np.inf, 0


def cheapest_by_milp(table: Table, sensitive, cost, candidates, most: float) -> float:
    """Cost of the cheapest safe pattern: a copy of the table per level, one big programme."""
    n, relations = table.n_cells, table.relations.toarray()
    lower, upper = table.bounds
    goals = [
        (cell, sign * amount[cell])
        for cell in sensitive.primary
        for sign, amount in ((1, sensitive.above), (-1, sensitive.below))
        if amount[cell] > 0
    ]
    size = n + n * len(goals)
    rows, low, high = [], [], []

    def row(parts, a, b):
        line = np.zeros(size)
        for place, weight in parts:
            line[place] = weight
        rows.append(line), low.append(a), high.append(b)

    up, down = np.minimum(upper - table.value, most), np.minimum(table.value - lower, most)
    for number, (cell, amount) in enumerate(goals):
        start = n + n * number
        for relation in relations:
            row([(start + j, relation[j]) for j in np.flatnonzero(relation)], 0, 0)
        for j in range(n):
            row([(start + j, 1), (j, -up[j])], -np.inf, 0)
            row([(start + j, 1), (j, down[j])], 0, np.inf)
        row([(start + cell, 1)], amount, amount)
    free = np.zeros(n)
    free[candidates] = 1
    binary = Bounds(
        np.concatenate([sensitive.cells.astype(float), np.full(size - n, -np.inf)]),
        np.concatenate([np.maximum(free, sensitive.cells), np.full(size - n, np.inf)]),
    )
    prices = np.concatenate([np.where(sensitive.cells, 0.0, cost), np.zeros(size - n)])
    found = milp(
        prices, integrality=np.arange(size) < n, bounds=binary,
        constraints=LinearConstraint(np.array(rows), low, high), options={"mip_rel_gap": 0.0},
    )  # fmt: skip
    return float(found.fun) if found.status == 0 else np.inf
