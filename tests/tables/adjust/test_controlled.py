from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, ProtectionError
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
    quick = tables.ControlledAdjustment(block=30).protect(table, sensitive)
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
    with pytest.raises(ParameterError, match="not for squares"):
        tables.ControlledAdjustment(norm="squares", whole=True)


# -- levels that rules do not state, and levels below zero -----------------------------------------


@pytest.mark.parametrize(
    ("norm", "whole"), [("absolute", False), ("absolute", True), ("squares", False)]
)
def test_a_sensitive_cell_never_stays_as_it_is(norm, whole):
    """The rule of fewest respondents states no level for totals; single respondents must move."""
    frame = pl.DataFrame(
        {
            "a": list("NNNNSSSEEEE"),
            "b": list("xyyyxyyxyyy"),
            "v": [7, 20, 25, 30, 3, 44, 50, 90, 14, 15, 16],
        }
    )
    table = tacit.tabulate(frame, ["a", "b"], "v")
    method = tables.ControlledAdjustment(norm=norm, whole=whole, margin=10)
    found = table.protect(method, tables.MinFrequency(n=3))
    cells = found.sensitive.cells
    assert cells.sum() >= 4
    moved = np.abs(found.published - table.value)[cells]
    assert np.all(moved >= np.maximum(0.1 * table.value[cells], 1) - 1e-6)
    assert np.all(np.abs(table.relations @ found.published) < 1e-9)
    declared = table.declare_unsafe({"a": "S", "b": "x"})
    assert declared.protect(method).published[table.cell(a="S", b="x")] != 3


def test_a_zero_without_a_level_is_refused():
    table = _full(np.array([0.5, 0.0]), Dimension.flat("a", ["x", "y"]), count=np.array([4, 2, 2]))
    sensitive = Sensitive.by("hand", np.array([False, False, True]), 0.0)
    with pytest.raises(ProtectionError, match="value zero"):
        tables.ControlledAdjustment().protect(table, sensitive)


def _nearest_beside(noisy, sensitive):
    """Castro (2011), by every choice of sides with scipy's solver."""
    n, matrix = noisy.n_cells, noisy.relations.toarray()
    best = np.inf
    for senses in product((1.0, -1.0), repeat=len(sensitive.primary)):
        rows = np.zeros((len(senses), 2 * n))
        limits = []
        for k, (cell, side) in enumerate(zip(sensitive.primary, senses, strict=True)):
            rows[k, [cell, n + cell]] = -side, side
            limits.append(-(sensitive.above if side > 0 else sensitive.below)[cell])
        found = linprog(
            np.ones(2 * n), A_ub=rows, b_ub=limits, A_eq=np.hstack([matrix, -matrix]),
            b_eq=-(matrix @ noisy.value), bounds=[(0, None)] * n + [(0, v) for v in noisy.value],
        )  # fmt: skip
        best = min(best, found.fun) if found.success else best
    return best


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_cells_beside_their_interval_need_not_move(seed):
    """Castro (2011): input with noise, intervals around the true values, so levels below zero."""
    rng = np.random.default_rng(seed)
    truth, _ = _random(seed, n_sensitive=1)
    noisy = truth.replace(value=np.maximum(truth.value + rng.integers(-3, 4, 16), 1))
    cells = np.isin(np.arange(16), rng.choice(16, 3, replace=False))
    reach = rng.integers(1, 5, 16)
    above = (truth.value + reach) - noisy.value
    below = noisy.value - np.maximum(truth.value - reach, 0)
    sensitive = Sensitive.by("hand", cells, above, below)
    found = tables.ControlledAdjustment(gap=0).protect(noisy, sensitive)
    off = np.abs(found.published - truth.value)[cells]
    assert np.all((off >= reach[cells] - 1e-6) | (found.published[cells] < 1e-6))
    assert found.notes["distance"] == pytest.approx(_nearest_beside(noisy, sensitive), abs=1e-5)


def test_a_cell_may_fall_to_zero_where_its_level_is_its_value():
    """Found by brute force: the margin of the solver must not take that choice away."""
    table, sensitive = _random(139, n_sensitive=4)
    found = tables.ControlledAdjustment(gap=0).protect(table, sensitive)
    assert found.notes["distance"] == pytest.approx(_cheapest(table, sensitive), rel=1e-6) == 28


# -- numbers of any size --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e12])
@pytest.mark.parametrize("norm", ["absolute", "squares"])
def test_values_of_any_size_are_protected_to_the_same_share(scale, norm):
    table, sensitive = _random(6, 4, 4, 3)
    sized = table.replace(value=table.value * scale)
    levels = Sensitive.by("hand", sensitive.cells, sensitive.above * scale, sensitive.below * scale)
    found = tables.ControlledAdjustment(norm=norm).protect(sized, levels)
    assert _outside(sized, levels, found.published, slack=1e-9 * scale)
    missed = np.abs(table.relations @ found.published).max()
    assert missed <= 1e-12 * sized.value.max()


def test_whole_numbers_come_out_without_dust():
    table, sensitive = _random(5, 4, 4, 3)
    published = tables.ControlledAdjustment().protect(table, sensitive).published
    assert np.all(published == np.round(published))
    assert np.all(table.relations @ published == 0)


def test_whole_changes_leave_the_decimals_of_a_table():
    table, sensitive = _random(5, 4, 4, 3)
    leaves = (table.value.reshape(5, 5)[1:, 1:]) + 0.25
    decimal = _full(leaves, *table.dimensions)
    found = tables.ControlledAdjustment(whole=True).protect(decimal, sensitive)
    change = found.published - decimal.value
    np.testing.assert_allclose(change, np.round(change), atol=1e-12)
    assert _outside(decimal, sensitive, found.published)


def test_a_result_inside_a_narrow_interval_of_a_large_value_is_caught():
    from tacit.tables.adjust.controlled import check_adjusted

    table = _full(np.array([1e9, 2e9]), Dimension.flat("a", ["x", "y"]))
    sensitive = Sensitive.by("hand", np.array([False, True, False]), 50.0)
    with pytest.raises(ProtectionError, match="within their protection intervals"):
        check_adjusted(table, sensitive, table.value)


def test_linked_tables_add_up_and_agree():
    rng = np.random.default_rng(3)
    codes = {"r": list("ABCD"), "s": list("mf"), "g": list("12345")}
    frame = pl.DataFrame({name: rng.choice(known, 60) for name, known in codes.items()})
    frame = frame.with_columns(v=pl.Series(rng.integers(1, 400, 60)))
    linked = tables.link({c: tacit.tabulate(frame, ["r", c], "v") for c in ("s", "g")})
    found = linked.protect(tables.ControlledAdjustment(), tables.PPercent(p=60))
    assert len(found.sensitive) > 0
    assert _outside(linked, found.sensitive, found.published)
    assert np.abs(linked.relations @ found.published).max() < 1e-9


def test_what_cannot_be_published_or_is_no_number_is_refused():
    table, sensitive = _random(4, 3, 3, 1)
    with pytest.raises(ProtectionError, match="forced"):
        tables.ControlledAdjustment().protect(table.force([5]), sensitive)
    broken = table.replace(value=np.where(np.arange(16) == 3, np.nan, table.value))
    with pytest.raises(DataError, match="finite"):
        tables.ControlledAdjustment().protect(broken, sensitive)


@pytest.mark.parametrize("name", ["targus", "table7"])
def test_both_ways_to_least_squares_agree(shared_data, name):
    """HiGHS's quadratic solver and our interior points, with the same senses."""
    from tacit.io.argus import read_castro
    from tacit.tables.adjust import _squares

    table = read_castro(shared_data / "tables" / "castro_cta" / f"{name}.txt.gz")
    problem = tables.ControlledAdjustment(weights="user")._problem(table, table.sensitive(), 1.0)
    low, high = problem.low.copy(), problem.high.copy()
    low[problem.sensitive] = problem.up
    ours = _squares._by_interior_points(problem, low, high, 300.0)
    theirs = _squares._by_highs(problem, low, high, 300.0)
    assert problem.weight @ ours**2 == pytest.approx(problem.weight @ theirs**2, rel=1e-4)
    np.testing.assert_allclose(table.relations @ (table.value + ours), 0, atol=1e-4)


def test_least_squares_end_where_highs_does_not(shared_data):
    """The published table toysarah: 2 890 cells, 376 of them sensitive."""
    from tacit.io.argus import read_castro

    table = read_castro(shared_data / "tables" / "castro_cta" / "toysarah.txt.gz")
    method = tables.ControlledAdjustment(weights="user", norm="squares")
    made = method.protect(table, table.sensitive())
    assert made.verify().passed


def test_least_squares_refuse_when_time_is_up(monkeypatch):
    from tacit.tables.adjust import _squares

    monkeypatch.setattr(_squares, "_by_interior_points", lambda *_: None)
    monkeypatch.setattr(_squares, "_by_highs", lambda *_: None)
    table, sensitive = _random(3)
    with pytest.raises(ProtectionError, match="did not come to an end"):
        tables.ControlledAdjustment(norm="squares").protect(table, sensitive)
