"""Decomposable models: closed forms against iterative fitting, and the search."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.risk._decomposable import DecomposableModel, KeyTable


def random_codes(n, levels, seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, levels[0], n)
    columns = [first]
    for k in levels[1:]:
        noise = rng.integers(0, k, n)
        columns.append(np.where(rng.random(n) < 0.5, columns[-1] % k, noise))
    return np.column_stack(columns).astype(np.int32)


def iterative_fit(codes, edges, rounds=300):
    """Iterative proportional fitting of all pairs and triangles on the full table."""
    shape = tuple(codes.max(axis=0) + 1)
    counts = np.zeros(shape)
    np.add.at(counts, tuple(codes.T), 1)
    joined = {frozenset(e) for e in edges}
    m = codes.shape[1]
    cliques = [
        keys
        for size in range(1, m + 1)
        for keys in combinations(range(m), size)
        if all(frozenset(pair) in joined for pair in combinations(keys, 2))
    ]
    fit = np.full(shape, counts.sum() / counts.size)
    for _ in range(rounds):
        for keys in cliques:
            others = tuple(j for j in range(m) if j not in keys)
            now, wanted = (
                fit.sum(axis=others, keepdims=True),
                counts.sum(axis=others, keepdims=True),
            )
            fit = fit * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
    return fit


@pytest.mark.parametrize(
    "edges", [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)], [(0, 3), (0, 1), (0, 2)]]
)
def test_closed_form_equals_iterative_fitting(edges):
    codes = random_codes(120, (3, 2, 4, 2), 1)
    model = DecomposableModel.independence(KeyTable.of(codes))
    for edge in edges:
        assert edge in set(model.additions())
        model = model.with_edge(edge)
    fit = iterative_fit(codes, edges)
    everywhere = model.fitted_everywhere()
    np.testing.assert_allclose(everywhere, fit.ravel(), atol=1e-6)
    np.testing.assert_allclose(model.fitted(), fit[tuple(model.table.cells.T)], rtol=1e-6)
    assert everywhere.sum() == pytest.approx(120)


def test_a_chordless_cycle_is_never_built():
    model = DecomposableModel.independence(KeyTable.of(random_codes(50, (2, 2, 2, 2), 2)))
    for edge in [(0, 1), (1, 2), (2, 3)]:
        model = model.with_edge(edge)
    assert set(model.additions()) == {(0, 2), (1, 3)}  # not (0, 3)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_gain_is_the_change_in_deviance_along_the_path(seed):
    table = KeyTable.of(random_codes(80, (3, 2, 3, 2), seed))
    previous = None
    for model, _ in DecomposableModel.independence(table).path(0.0):
        fit = model.fitted()
        likelihood = 2 * float(table.counts @ np.log(fit))
        assert model.fitted_everywhere().sum() == pytest.approx(80)
        if previous is not None:
            (edge,) = set(model.edges) - set(previous[0].edges)
            assert likelihood - previous[1] == pytest.approx(previous[0].gain(edge)[0], abs=1e-6)
        previous = model, likelihood
    # the last model is saturated
    assert len(previous[0].edges) == 6
    np.testing.assert_allclose(previous[0].fitted(), table.counts)


def test_parameters_of_an_interaction():
    codes = np.stack(np.unravel_index(np.arange(24), (2, 3, 4)), axis=1).astype(np.int32)
    model = DecomposableModel.independence(KeyTable.of(codes))
    assert model.gain((0, 2)) == (pytest.approx(0, abs=1e-9), 3)
    model = model.with_edge((0, 1)).with_edge((0, 2))
    assert model.gain((1, 2))[1] == 2 * 2 * 3  # within each value of the common neighbour


def test_draws_follow_the_model():
    table = KeyTable.of(random_codes(200, (2, 3, 2), 5))
    model = DecomposableModel.independence(table).with_edge((0, 1)).with_edge((1, 2))
    cells, expected = model.draw(200_000, np.random.default_rng(0))
    found = np.zeros((2, 3, 2))
    np.add.at(found, tuple(cells.T), 1 / 1000)
    everywhere = model.fitted_everywhere().reshape(found.shape)
    np.testing.assert_allclose(found, everywhere, atol=0.6)
    np.testing.assert_allclose(expected, everywhere[tuple(cells.T)])


def test_missing_values_are_a_category_and_no_keys_are_one_cell():
    table = KeyTable.of(np.array([[-1, 0], [0, 0], [-1, 0]], dtype=np.int32))
    assert table.n_possible == 2
    assert sorted(table.counts) == [1, 2]
    alone = KeyTable.of(np.empty((4, 0), dtype=np.int32))
    assert DecomposableModel.independence(alone).fitted().tolist() == [4]
