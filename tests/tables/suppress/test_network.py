"""The network method: the table as a network, and the same guarantee as every other method."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.core.errors import ProtectionError, SchemaError
from tacit.tables import Dimension, Sensitive, SuppressNetwork
from tacit.tables.suppress._repair_problem import problem_of
from tacit.tables.suppress.network import flow_pattern, network_of

FAST = settings(
    max_examples=12, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
TALL = Dimension.nested("r", {"Total": ["A", "B"], "A": ["a1", "a2"], "B": ["b1", "b2", "b3"]})


def _incidence(ends, n_nodes):
    matrix = np.zeros((n_nodes, len(ends)))
    matrix[ends[:, 0], np.arange(len(ends))] += 1
    matrix[ends[:, 1], np.arange(len(ends))] -= 1
    return matrix


@pytest.mark.parametrize("turned", [False, True])
def test_circulations_are_exactly_the_changes_that_keep_all_sums(full_table, turned):
    """Same rank and every relation implied: the network says as much as the relations do."""
    by = [TALL, Dimension.flat("s", ["x", "y", "z"])]
    values = np.arange(1.0, 16.0).reshape(5, 3)
    table = full_table(values.T if turned else values, *(by[::-1] if turned else by))
    ends, n_nodes = network_of(table, np.arange(table.n_cells))
    net = _incidence(ends, n_nodes)
    relations = table.relations.toarray()
    rank = np.linalg.matrix_rank(relations)
    assert np.linalg.matrix_rank(net) == rank
    assert np.linalg.matrix_rank(np.vstack([net, relations])) == rank


def test_the_cheapest_flow_by_hand(full_table):
    table = full_table(
        [[10, 30, 200], [300, 60, 500], [400, 70, 90]],
        Dimension.flat("r", ["a", "b", "c"]), Dimension.flat("s", ["x", "y", "z"]),
        variable="turnover",
    )  # fmt: skip
    one = np.arange(16) == table.cell(r="a", s="x")
    problem = problem_of(table, Sensitive.by("hand", one, 1.0), np.abs(table.value))
    hidden = problem.spread(flow_pattern(problem))
    names = {table.labels(int(i)) for i in np.flatnonzero(hidden)}
    assert names == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}


@FAST
@given(st.integers(0, 10_000), st.sampled_from(["flat", "negative"]))
def test_every_sensitive_cell_withstands_an_independent_attack(random_case, weak_cells, seed, kind):
    table, sensitive = random_case(seed, kind, n_dims=2)
    try:
        result = SuppressNetwork().protect(table, sensitive)
    except ProtectionError:
        return
    assert weak_cells(result) == []


def test_one_hierarchy_is_taken_two_are_refused(full_table, weak_cells):
    values = np.arange(1.0, 16.0).reshape(5, 3) * 7
    table = full_table(values, TALL, Dimension.flat("s", ["x", "y", "z"]), variable="v")
    cells = np.isin(
        np.arange(table.n_cells), [table.cell(r="a1", s="x"), table.cell(r="b2", s="z")]
    )
    sensitive = Sensitive.by("hand", cells, 3.0)
    assert weak_cells(SuppressNetwork().protect(table, sensitive)) == []
    both = full_table(np.ones((5, 5)), TALL, TALL.replace(name="s"), variable="v")
    with pytest.raises(SchemaError, match="at most one"):
        SuppressNetwork().protect(both, Sensitive.by("hand", np.arange(both.n_cells) == 9, 0.1))
    line = full_table(np.ones(5), TALL, variable="v")
    with pytest.raises(SchemaError, match="two dimensions"):
        SuppressNetwork().protect(line, Sensitive.by("hand", np.arange(line.n_cells) == 3, 0.1))
