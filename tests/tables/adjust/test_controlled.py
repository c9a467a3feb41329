from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacit import tables
from tacit.core.errors import ParameterError, ProtectionError
from tacit.tables import Dimension, Sensitive, Table
from tacit.tables._grid import grid_codes, grid_relations


def _full(values, *dimensions, **fields):
    for axis, dimension in enumerate(dimensions):
        values = np.moveaxis(
            np.tensordot(dimension.contains.toarray(), values, axes=(1, axis)), 0, axis
        )
    return Table(
        value=values.ravel(), relations=grid_relations(dimensions), dimensions=dimensions,
        codes=grid_codes(dimensions), variable="v", **fields,
    )  # fmt: skip


def _random(seed, rows=3, columns=3, n_sensitive=2):
    rng = np.random.default_rng(seed)
    table = _full(
        rng.integers(1, 50, (rows, columns)).astype(float),
        Dimension.flat("a", [f"a{i}" for i in range(rows)]),
        Dimension.flat("b", [f"b{i}" for i in range(columns)]),
    )
    cells = np.zeros(table.n_cells, dtype=bool)
    leaves = np.flatnonzero(~table.is_total)
    cells[rng.choice(leaves, n_sensitive, replace=False)] = True
    above = rng.integers(1, 10, table.n_cells).astype(float)
    below = np.minimum(rng.integers(1, 10, table.n_cells), table.value)
    return table, Sensitive.by("hand", cells, above, below)


def _outside(table, sensitive, published, slack=1e-6):
    change = (published - table.value)[sensitive.cells]
    above, below = sensitive.above[sensitive.cells], sensitive.below[sensitive.cells]
    return np.all((change >= above - slack) | (change <= -below + slack))


def _cheapest(table, sensitive):
    """Every choice of senses, each by scipy's solver: no code shared with the package."""
    n, cells = table.n_cells, sensitive.primary
    best = np.inf
    matrix = table.relations.toarray()
    for senses in product((True, False), repeat=len(cells)):
        bounds = [(0, None)] * n + [(0, v) for v in table.value]
        for cell, rises in zip(cells, senses, strict=True):
            if rises:
                bounds[cell], bounds[n + cell] = (sensitive.above[cell], None), (0, 0)
            else:
                bounds[cell] = (0, 0)
                bounds[n + cell] = (sensitive.below[cell], table.value[cell])
        found = linprog(
            np.ones(2 * n), A_eq=np.hstack([matrix, -matrix]), b_eq=np.zeros(len(matrix)),
            bounds=bounds,
        )  # fmt: skip
        if found.success:
            best = min(best, found.fun)
    return best


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_table_is_the_nearest_safe_one(seed, n_sensitive):
    table, sensitive = _random(seed, n_sensitive=n_sensitive)
    found = tables.ControlledAdjustment(gap=0).protect(table, sensitive)
    assert _outside(table, sensitive, found.published)
    np.testing.assert_allclose(table.relations @ found.published, 0, atol=1e-6)
    assert found.notes["distance"] == pytest.approx(_cheapest(table, sensitive), rel=1e-5)
    assert found.notes["optimal"]


@pytest.mark.parametrize("keep", ["nothing", "total", "margins"])
@pytest.mark.parametrize("norm", ["absolute", "squares"])
def test_what_must_stay_stays(keep, norm):
    table, sensitive = _random(5, 4, 4, 3)
    found = tables.ControlledAdjustment(keep=keep, norm=norm).protect(table, sensitive)
    assert _outside(table, sensitive, found.published)
    kept = {"nothing": [], "total": [0], "margins": np.flatnonzero(table.is_total)}[keep]
    np.testing.assert_array_equal(found.published[kept], table.value[kept])


def test_squares_spread_what_absolute_changes_pile_up():
    table, sensitive = _random(11, 5, 5, 2)
    absolute, squares = (
        tables.ControlledAdjustment(norm=norm, keep="margins").protect(table, sensitive)
        for norm in ("absolute", "squares")
    )
    change = [p.published - table.value for p in (absolute, squares)]
    assert (change[1] ** 2).sum() < (change[0] ** 2).sum()
    assert np.abs(change[0]).sum() <= np.abs(change[1]).sum() + 1e-6


def test_whole_numbers_on_request():
    table, _ = _random(3, 4, 4, 3)
    cells = np.zeros(table.n_cells, dtype=bool)
    cells[np.flatnonzero(~table.is_total)[:3]] = True
    sensitive = Sensitive.by("hand", cells, 2.5, 0.5)
    found = tables.ControlledAdjustment(whole=True).protect(table, sensitive)
    assert np.all(found.published == np.round(found.published))
    assert np.all(table.relations @ found.published == 0)
    assert _outside(table, sensitive, found.published)


def test_many_sensitive_cells_are_done_in_blocks_and_improve():
    table, sensitive = _random(9, 12, 12, 60)
    quick = tables.ControlledAdjustment(block=30, seconds=20).protect(table, sensitive)
    assert _outside(table, sensitive, quick.published)
    up = np.where(sensitive.cells, sensitive.above, 0.0)
    # All senses up is the naive choice; the search must not be worse.
    naive = linprog(
        np.ones(2 * table.n_cells),
        A_eq=np.hstack([table.relations.toarray(), -table.relations.toarray()]),
        b_eq=np.zeros(table.relations.shape[0]),
        bounds=[(u, None) for u in up] + [(0, 0 if s else v) for s, v in
                                          zip(sensitive.cells, table.value, strict=True)],
    ).fun  # fmt: skip
    assert quick.notes["distance"] < naive


def test_a_table_with_noise_comes_out_additive():
    """Castro (2011): the input need not add up."""
    table, _ = _random(2, 4, 4, 1)
    noisy = table.replace(value=table.value + np.random.default_rng(1).integers(-2, 3, 25))
    noisy = noisy.replace(value=np.maximum(noisy.value, 0))
    found = tables.ControlledAdjustment(whole=True).protect(noisy, Sensitive.none(25))
    assert np.all(table.relations @ found.published == 0)
    assert np.abs(found.published - noisy.value).sum() <= np.abs(table.value - noisy.value).sum()


def test_empty_and_frozen_cells_stay_and_infeasible_is_refused():
    table, sensitive = _random(4, 3, 3, 1)
    frozen = np.ones(table.n_cells, dtype=bool)
    frozen[sensitive.primary] = False
    with pytest.raises(ProtectionError, match="no table within these bounds"):
        tables.ControlledAdjustment().protect(table.replace(frozen=frozen), sensitive)
    with pytest.raises(ProtectionError, match="no costs"):
        tables.ControlledAdjustment(weights="user").protect(table, sensitive)


def test_bounds_on_other_cells_hold():
    table, sensitive = _random(8, 5, 5, 2)
    found = tables.ControlledAdjustment(within=60).protect(table, sensitive)
    others = ~sensitive.cells
    change = np.abs(found.published - table.value)[others]
    assert np.all(change <= 0.6 * table.value[others] + 1e-6)


def test_bad_parameters_are_named():
    with pytest.raises(ParameterError):
        tables.ControlledAdjustment(norm="cubes")
    with pytest.raises(ParameterError):
        tables.ControlledAdjustment(within=-1)
