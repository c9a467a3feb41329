"""Random tables of every shape, and an attacker that shares no code with the package's."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from tacit.tables import Dimension, Sensitive, Table
from tacit.tables._grid import grid_codes, grid_relations


def _dimension(rng, name, kind):
    leaves = [f"{name}{i}" for i in range(int(rng.integers(2, 5)))]
    if kind == "flat" or len(leaves) < 3:
        return Dimension.flat(name, leaves)
    if kind == "nested":
        groups = {"Total": [f"{name}X", f"{name}Y"], f"{name}X": leaves[:2], f"{name}Y": leaves[2:]}
        if len(leaves) == 3:
            groups = {"Total": [f"{name}X", leaves[2]], f"{name}X": leaves[:2]}
        return Dimension.nested(name, groups)
    other = {"Total": [f"{name}P", *leaves[2:]], f"{name}P": leaves[:2]}
    crossed = {"Total": [leaves[0], f"{name}Q"], f"{name}Q": leaves[1:]}
    return Dimension.nested(name, other, crossed)


def _table(rng, dimensions, negative):
    sizes = [len(d.leaves) for d in dimensions]
    values = np.round(np.exp(rng.normal(3, 1.2, sizes))) + 1
    values[rng.random(sizes) < 0.08] = 0
    if negative:
        values = np.where(rng.random(sizes) < 0.2, -values, values)
    for axis, dimension in enumerate(dimensions):
        values = np.moveaxis(
            np.tensordot(dimension.contains.toarray(), values, axes=(1, axis)), 0, axis
        )
    n = int(np.prod(values.shape))
    count = np.where(values.ravel() == 0, 0, 5)
    table = Table(
        value=values.ravel(), relations=grid_relations(dimensions), dimensions=dimensions,
        codes=grid_codes(dimensions), variable="turnover", count=count,
    )  # fmt: skip
    if negative:
        table = table.replace(lower=np.full(n, -1e4), upper=np.full(n, 1e4))
    return table


def _linked(rng):
    """Two tables over the same leaves, one number per leaf shared: cells joined by equalities."""
    one = _table(
        rng, (Dimension.flat("a", ["a1", "a2", "a3"]), Dimension.flat("b", ["b1", "b2"])), False
    )
    n = one.n_cells
    cut = rng.random(3) * 0.6 + 0.2
    margin = np.flatnonzero((one.codes[:, 0] > 0) & (one.codes[:, 1] == 0))
    parts = np.round(one.value[margin] * cut)
    inner = np.stack([parts, one.value[margin] - parts], axis=1)
    extra = np.concatenate([inner.ravel(), inner.sum(axis=0)])
    rows = []
    for i, cell in enumerate(margin):
        line = np.zeros(n + 8)
        line[[n + 2 * i, n + 2 * i + 1]], line[cell] = 1, -1
        rows.append(line)
    for j in range(2):
        line = np.zeros(n + 8)
        line[[n + j, n + 2 + j, n + 4 + j]], line[n + 6 + j] = 1, -1
        rows.append(line)
    line = np.zeros(n + 8)
    line[[n + 6, n + 7]], line[0] = 1, -1
    rows.append(line)
    wide = csr_array(np.hstack([one.relations.toarray(), np.zeros((one.relations.shape[0], 8))]))
    value = np.concatenate([one.value, extra])
    return Table(
        value=value, relations=csr_array(vstack([wide, csr_array(np.array(rows))])),
        variable="turnover", count=np.where(value == 0, 0, 5),
    )  # fmt: skip


@pytest.fixture(scope="session")
def random_case():
    """Function that draws a table with sensitive cells: (table, sensitive)."""

    def random_case(seed, kind="any", n_dims=None, frozen=False):
        rng = np.random.default_rng(seed)
        if kind == "linked":
            table = _linked(rng)
        else:
            n = n_dims or int(rng.integers(1, 5))
            shapes = {"flat": ["flat"], "nested": ["nested"], "any": ["flat", "nested", "crossed"]}
            names = shapes.get(kind, ["flat"])
            chosen = [names[int(rng.integers(len(names)))] if n < 4 else "flat" for _ in range(n)]
            dimensions = tuple(_dimension(rng, "abcd"[k], one) for k, one in enumerate(chosen))
            table = _table(rng, dimensions, kind == "negative")
        candidates = ~table.is_empty & ~table.is_total
        cells = candidates & (rng.random(table.n_cells) < 0.12)
        if not cells.any():
            cells[np.flatnonzero(candidates)[:1]] = True
        level = np.abs(table.value) * rng.uniform(0.02, 0.3)
        width = np.where(rng.random(table.n_cells) < 0.2, 0.5 * np.abs(table.value), 0.0)
        sensitive = Sensitive.by("drawn", cells, level, below=level * rng.random(), width=width)
        if frozen:
            table = table.replace(frozen=~cells & (rng.random(table.n_cells) < 0.1))
        return table, sensitive

    return random_case


@pytest.fixture(scope="session")
def weak_cells():
    """Function that attacks a protected table with scipy and returns the cells that do not hold."""

    def weak_cells(protected, known=()):
        table, sensitive = protected.original, protected.sensitive
        hidden = protected.suppressed
        lower, upper = (side.copy() for side in table.bounds)
        pinned = ~hidden
        pinned[list(known)] = True
        lower[pinned] = upper[pinned] = table.value[pinned]
        bounds = [
            (a if np.isfinite(a) else None, b if np.isfinite(b) else None)
            for a, b in zip(lower, upper, strict=True)
        ]
        right = np.zeros(table.relations.shape[0])
        weak = []
        for cell in np.setdiff1d(sensitive.primary, known):
            ends = []
            for sign in (1.0, -1.0):
                aim = np.zeros(table.n_cells)
                aim[cell] = sign
                found = linprog(
                    aim, A_eq=table.relations, b_eq=right, bounds=bounds, method="highs"
                )
                ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
            x, slack = table.value[cell], 1e-5 * max(abs(table.value[cell]), 1.0)
            holds = (
                ends[0] <= max(x - sensitive.below[cell], table.bounds[0][cell]) + slack
                and ends[1] >= min(x + sensitive.above[cell], table.bounds[1][cell]) - slack
                and ends[1] - ends[0] >= max(sensitive.width[cell], 1e-5) - slack
            )
            if not holds:
                weak.append(int(cell))
        return weak

    return weak_cells
