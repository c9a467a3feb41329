"""Suppression by network flows, for tables of two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.errors import SchemaError
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.suppress._costs import Cost, cell_costs
from tacit.tables.suppress._repair import Effort, protect_by_repair
from tacit.tables.suppress._repair_problem import Problem, problem_of
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SuppressNetwork(
    Protection,
    key="suppress-network",
    title="Cell suppression, network flow",
    cites=("castro2002", "cox1995"),
):
    r"""Suppress the cells of a cheapest flow through each sensitive cell.

    For two dimensions of which at most one has a hierarchy: every cell is then an arc of a network
    and a pattern is a circulation, found without a general solver. When not to use it: for other
    tables (it refuses); the modular method covers them all.

    Missing values: what building the table made of them. Weights: already in the table's values and
    in the levels of the rule. Households: a unit alone in a cell (`singletons`) may be a
    household or holding, if the table was built with them.

    Notes
    -----
    With a total row and column, each cell takes part in two sums that are not implied by others,
    with opposite signs: an arc between two nodes [cox1995]_. Moving sensitive cell :math:`p`
    by :math:`t_p` needs a flow of :math:`t_p` back from its head to its tail; the cheapest one is
    found by successive shortest paths, suppressed cells being free, largest level first
    [castro2002]_. The repair loop then checks all relations and publishes again what is not
    needed.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.SuppressNetwork().cost
    'value'
    """

    cost: Cost = "value"
    """What the loss of a suppressed cell is: value, unity, value-and-cells, frequency, log-value,
    distance or user."""
    singletons: bool | None = None
    """Whether a respondent alone in a cell must not be able to work out others with it, and what
    one respondent has in several such cells together is protected, too. Unless said, wherever the
    table knows how many contribute to its cells."""
    clean_up: Annotated[int, Ge(0)] = 4
    """Passes of publishing again what need not be suppressed."""
    seconds: Annotated[float, Gt(0)] = 600.0
    """Time for making the pattern cheaper."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with primary and secondary suppressions, or refuse."""
        effort = Effort((), self.clean_up, self.seconds)
        table.check_additive()
        prices = cell_costs(table, self.cost, sensitive.cells)
        problem = problem_of(table, sensitive, prices)
        start = problem.spread(flow_pattern(problem))
        return protect_by_repair(
            table, sensitive, self.describe(), cost=self.cost, starts=(start,),
            singletons=self.singletons, effort=effort,
        )  # fmt: skip


def flow_pattern(problem: Problem) -> np.ndarray:
    """Return the open cells suppressed by cheapest flows, one need after the other."""
    from tacit.tables.suppress import _network_kernel as kernel

    ends, n_nodes = network_of(problem.table, problem.cells)
    order = np.argsort(ends.ravel(), kind="stable")
    pointer = np.searchsorted(ends.ravel()[order], np.arange(n_nodes + 1))
    needs = problem.needs
    by_size = np.argsort(-needs.amount, kind="stable")
    hidden = problem.fixed.copy()
    kernel.protect_all(
        needs.cell[by_size], needs.amount[by_size], needs.sign[by_size], ends,
        pointer, order // 2, problem.up, problem.down, problem.cost, hidden, n_nodes,
    )  # fmt: skip
    return hidden


def network_of(table: Table, cells: np.ndarray) -> tuple[np.ndarray, int]:
    """Return tail and head of each cell's arc, and the number of nodes.

    Raises
    ------
    SchemaError
        If the table is not a network: other than two dimensions, or both with hierarchies.
    """
    from scipy.sparse import csc_array

    rows = _own_relations(table)
    columns = csc_array(rows[:, cells])
    if (np.diff(columns.indptr) > 2).any():
        raise _no_network(table)
    sign = _signs(table, columns)
    n = rows.shape[0]
    ends = np.full((len(cells), 2), n, dtype=np.int64)
    for j in range(len(cells)):
        for e in range(columns.indptr[j], columns.indptr[j + 1]):
            row = columns.indices[e]
            ends[j, 0 if columns.data[e] * sign[row] > 0 else 1] = row
    return ends, n + 1


def _own_relations(table: Table) -> csr_array:
    """Return relations that others do not imply: along the flat dimension those at leaves only."""
    from scipy.sparse import csr_array

    if len(table.dimensions) != 2 or table.codes.shape[0] != table.n_cells:
        raise _no_network(table)
    deep = [len(d.groups) > 1 for d in table.dimensions]
    if all(deep):
        raise _no_network(table)
    tall = 1 if deep[1] else 0
    dimension = table.dimensions[tall]
    leaf = np.zeros(len(dimension.codes), dtype=bool)
    leaf[[dimension.index[c] for c in dimension.leaves]] = True
    rows = csr_array(table.relations)
    filled = np.flatnonzero(np.diff(rows.indptr) > 0)
    rows = csr_array(rows[filled, :])
    first, last = rows.indices[rows.indptr[:-1]], rows.indices[rows.indptr[1:] - 1]
    along_tall = table.codes[first, tall] != table.codes[last, tall]
    return csr_array(rows[np.flatnonzero(along_tall | leaf[table.codes[first, tall]]), :])


def _signs(table: Table, columns: object) -> np.ndarray:
    """Return a sign per relation under which the two entries of every cell are opposite."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    a = columns
    pair = np.flatnonzero(np.diff(a.indptr) == 2)  # type: ignore[attr-defined]
    start = a.indptr[pair]  # type: ignore[attr-defined]
    one, two = a.indices[start], a.indices[start + 1]  # type: ignore[attr-defined]
    turn = -a.data[start] * a.data[start + 1]  # type: ignore[attr-defined]
    n = a.shape[0]  # type: ignore[attr-defined]
    graph = coo_array((np.ones(len(pair)), (one, two)), shape=(n, n)).tocsr()
    between = {(int(i), int(j)): t for i, j, t in zip(one, two, turn, strict=True)}
    between |= {(j, i): t for (i, j), t in between.items()}
    sign = np.zeros(n)
    _, label = connected_components(graph, directed=False)
    for root in np.unique(label, return_index=True)[1]:
        order, parent = breadth_first_order(graph, root, directed=False)
        sign[root] = 1.0
        for node in order[1:]:
            sign[node] = sign[parent[node]] * between[int(parent[node]), int(node)]
    if (sign[one] * sign[two] != turn).any():
        raise _no_network(table)
    return sign


def _no_network(table: Table) -> SchemaError:
    return SchemaError(
        "the network method needs two dimensions of which at most one has a hierarchy",
        got=repr(table),
        do="use SuppressModular",
    )
