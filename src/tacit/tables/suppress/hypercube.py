"""Suppression by hypercubes (GHMITER)."""

from __future__ import annotations

from math import prod
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.errors import SchemaError
from tacit.tables.dimension import Dimension
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._repair import Effort, protect_by_repair
from tacit.tables.suppress._repair_problem import blocked_cells, to_suppress
from tacit.tables.table import Table

MOST_DIMENSIONS = 8
MOST_COMBINATIONS = 200_000_000


class SuppressHypercube(
    Protection,
    key="suppress-hypercube",
    title="Cell suppression, hypercube",
    cites=("giessing2002", "repsilber1994"),
):
    r"""Suppress for each sensitive cell the corners of a cheapest box of cells around it.

    Very fast, with patterns easy to explain. When not to use it: where as little as possible must
    be lost; boxes cost more than the patterns of the modular method.

    Missing values: what building the table made of them. Weights: already in the table's values and
    in the levels of the rule. Households: a unit alone in a cell (`singletons`) may be a
    household or holding, if the table was built with them.

    Notes
    -----
    A box takes two codes per dimension, of codes that add up in one sum, so it has :math:`2^n`
    corners, and a change that alternates over the corners keeps all sums of its sub-table. A
    sensitive cell may rise by :math:`\min_{odd} x_i` and fall by :math:`\min_{even} x_i`; the
    cheapest box is taken for which this reaches the protection levels [giessing2002]_.
    Sub-tables are visited from the top; cells suppressed on the way are protected in every other
    sub-table they belong to, until nothing changes [repsilber1994]_. Boxes of different
    sub-tables say nothing of the whole table, so the repair loop then proves each cell over all
    relations, adds what is missing, and publishes again what is not needed.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.SuppressHypercube(clean_up=0).describe()
    'Cell suppression, hypercube: clean_up = 0'
    """

    cost: Cost = "value"
    """What the loss of a suppressed cell is: value, unity, value-and-cells, frequency, log-value,
    distance or user."""
    singletons: bool | None = None
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too. Unless said, wherever the
    table knows how many contribute to its cells."""
    clean_up: Annotated[int, Ge(0)] = 1
    """Passes of publishing again what need not be suppressed."""
    seconds: Annotated[float, Gt(0)] = 600.0
    """Time for making the pattern cheaper."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with primary and secondary suppressions, or refuse."""
        effort = Effort((), self.clean_up, self.seconds)
        table.check_additive()
        kept, must = to_suppress(table, sensitive)
        prices = cell_costs(table, self.cost, kept.cells)
        start = box_pattern(table, kept, must, prices)
        return protect_by_repair(
            table, sensitive, self.describe(), cost=self.cost, starts=(start,),
            singletons=self.singletons, effort=effort,
        )  # fmt: skip


def box_pattern(
    table: Table, sensitive: Sensitive, must: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """Return the cells suppressed by boxes, protected sub-table by sub-table only."""
    from tacit.tables.suppress import _hypercube_kernel as kernel

    _check(table)
    sizes = [len(d.codes) for d in table.dimensions]
    strides = np.array([prod(sizes[k + 1 :]) for k in range(len(sizes))], dtype=np.int64)
    position = np.full(prod(sizes), -1, dtype=np.int64)
    position[table.codes @ strides] = np.arange(table.n_cells)
    depth = sum(
        (d.depth[table.codes[:, k]] for k, d in enumerate(table.dimensions)),
        start=np.zeros(table.n_cells),
    )
    queue = np.flatnonzero(must)
    queue = queue[np.lexsort((-np.maximum(sensitive.above, sensitive.below)[queue], depth[queue]))]
    half = np.maximum(sensitive.width - sensitive.above - sensitive.below, 0.0) / 2
    lower, upper = table.bounds
    hidden = must.copy()
    kernel.suppress_cubes(
        queue, sensitive.above + half, sensitive.below + half, hidden,
        blocked_cells(table, must, empty=False), upper - table.value, table.value - lower, cost,
        table.codes.astype(np.int64), position, strides, *_group_arrays(table.dimensions),
    )  # fmt: skip
    return hidden


def _check(table: Table) -> None:
    if not table.dimensions or table.codes.shape[0] != table.n_cells:
        raise SchemaError(
            "the hypercube method needs a table spanned by dimensions",
            got=repr(table),
            do="use SuppressModular, which needs relations only",
        )
    n = prod(len(d.codes) for d in table.dimensions)
    if len(table.dimensions) > MOST_DIMENSIONS or n > MOST_COMBINATIONS:
        raise SchemaError(
            f"the hypercube method takes at most {MOST_DIMENSIONS} dimensions and "
            f"{MOST_COMBINATIONS:,} combinations of codes",
            got=f"{len(table.dimensions)} dimensions, {n:,} combinations",
        )


def _group_arrays(dimensions: tuple[Dimension, ...]) -> tuple[np.ndarray, ...]:
    """Return which sums each code takes part in, and the codes and signs of each sum, as arrays."""
    groups: list[np.ndarray] = []
    of_code: list[list[int]] = []
    offsets = []
    for dimension in dimensions:
        offsets.append(len(of_code))
        mine: list[list[int]] = [[] for _ in dimension.codes]
        for parent, children in dimension.sums:
            for code in (parent, *children):
                mine[int(code)].append(len(groups))
            groups.append(np.concatenate([[parent], children]))
        of_code += mine
    signs = [np.concatenate([[-1.0], np.ones(len(g) - 1)]) for g in groups]
    code_start = np.concatenate([[0], np.cumsum([len(g) for g in of_code])])
    group_start = np.concatenate([[0], np.cumsum([len(g) for g in groups])])
    flat = [g for several in of_code for g in several]
    whole = np.int64
    return (
        code_start.astype(whole), np.array(offsets, whole), np.array(flat, whole),
        group_start.astype(whole),
        np.concatenate(groups).astype(whole) if groups else np.empty(0, whole),
        np.concatenate(signs) if signs else np.empty(0),
    )  # fmt: skip
