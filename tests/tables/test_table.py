"""Tables: cells, relations, and what a user may say of single cells."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tacit.core.errors import DataError, ProtectionError, SchemaError
from tacit.tables import Dimension, Sensitive, Table, tabulate
from tacit.tables._grid import grid_codes, grid_relations, kept_cells


def test_relations_hold_and_name_their_totals(small):
    assert small.n_cells == len(small) == 12
    assert small.relations.shape == (7, 12)
    assert np.array_equal(small.residuals(), np.zeros(7))
    assert small.is_total.sum() == 6
    small.check_additive()
    assert small.value[small.cell()] == 129
    assert small.value[small.cell(region="S")] == 49
    assert small.value[small.cell(region="S", size="2")] == 19
    assert small.labels(small.cell(size="3")) == ("Total", "3")
    assert "2 regions" not in repr(small)
    assert "12 cells, 7 relations" in repr(small)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 99))
def test_every_relation_of_a_grid_holds(sizes, seed):
    dimensions = tuple(
        Dimension.nested(f"d{j}", {"Total": [f"{i}" for i in range(n)], "0": ["x", "y"]})
        for j, n in enumerate(sizes)
    )
    values = np.random.default_rng(seed).integers(0, 9, [len(d.leaves) for d in dimensions])
    for axis, dimension in enumerate(dimensions):
        values = np.moveaxis(
            np.tensordot(dimension.contains.toarray(), values, axes=(1, axis)), 0, axis
        )
    relations = grid_relations(dimensions)
    assert not (relations @ values.ravel()).any()
    codes = grid_codes(dimensions)
    assert len(np.unique(codes, axis=0)) == len(codes) == values.size
    assert relations.shape[0] == sum(2 * values.size // len(d.codes) for d in dimensions)


def test_a_table_without_dimensions_has_one_cell():
    assert grid_codes(()).shape == (1, 0)
    assert grid_relations(()).shape == (0, 1)


def test_leaving_empty_cells_out_keeps_the_sums(full_table):
    flat = Dimension.flat("x", ["a", "b", "c"])
    table = full_table([1, 0, 3], flat)
    kept = kept_cells(table.relations, table.value != 0)
    assert kept.toarray().tolist() == [[-1.0, 1.0, 1.0]]


def test_a_table_that_does_not_add_up_is_refused_by_name(small):
    value = small.value.copy()
    value[small.cell(region="S")] += 5
    with pytest.raises(DataError, match=r"2 sums are missed.*\(Total, Total\)|\(S, Total\)"):
        small.replace(value=value).check_additive()


@pytest.mark.parametrize("step", [1.0, 0.01])
def test_one_in_millions_is_missed_where_numbers_end(full_table, step):
    """Only numbers without an end may be off by rounding."""
    flat = Dimension.flat("x", ["a", "b"])
    table = full_table([7_000_000 * step, 5_000_000 * step], flat)
    table.check_additive()
    off = table.value + np.array([step, 0, 0])
    with pytest.raises(DataError, match="1 sum is missed"):
        table.replace(value=off).check_additive()
    endless = table.value * np.pi
    table.replace(value=endless * (1 + np.array([0, 1e-9, 0]))).check_additive()


def test_the_cell_that_explains_all_sums_missed_is_named(small):
    value = small.value.copy()
    value[small.cell(region="S", size="2")] += 5
    with pytest.raises(DataError) as caught:
        small.replace(value=value).check_additive()
    said = str(caught.value)
    assert "2 sums are missed" in said
    assert "(Total, 2) miss it by 5" in said
    assert "of (S, Total) by 5" in said
    assert "they would hold if (S, 2) were 19, not 24" in said


def test_no_cell_is_blamed_where_several_could_be(full_table, small):
    one_way = full_table([3, 4], Dimension.flat("x", ["a", "b"]))
    with pytest.raises(DataError, match=r"1 sum is missed; the parts of \(Total\) miss it by 1\)"):
        one_way.replace(value=one_way.value + np.array([0, 1, 0])).check_additive()
    value = small.value.copy()
    value[[small.cell(region="S", size="2"), small.cell(region="N", size="1")]] += [5, 7]
    with pytest.raises(DataError, match=r"4 sums are missed.*by 5, of .*, \.\.\.\);") as caught:
        small.replace(value=value).check_additive()
    assert "would hold" not in str(caught.value)


def test_rounding_errors_are_no_objection(small):
    small.replace(value=small.value * (1 + 1e-9)).check_additive()


def test_bad_shapes_are_refused():
    sums = csr_array(np.array([[-1.0, 1.0, 1.0]]))
    with pytest.raises(SchemaError, match="one column per cell"):
        Table(value=np.zeros(4), relations=sums)
    with pytest.raises(SchemaError, match="count must have one entry per cell"):
        Table(value=np.zeros(3), relations=sums, count=np.zeros(2))
    with pytest.raises(SchemaError, match="one code per dimension"):
        Table(value=np.zeros(3), relations=sums, dimensions=(Dimension.flat("x", "ab"),))


def test_parts_of_another_table_are_refused():
    one = np.array([0])
    table = tabulate(pl.DataFrame({"g": list("aab"), "x": [1, 2, 3]}), "g", "x")
    for name, other in (
        ("respondents", {"respondents": table.respondents.take(one)}),
        ("sums of 'y'", {"sums": {"y": one}}),
        ("codes must be positions in 'g'", {"codes": table.codes + 1}),
        ("codes must be positions in 'g'", {"codes": table.codes - 1}),
        ("sparse", {"relations": table.relations.toarray()}),
    ):
        with pytest.raises(SchemaError, match=name):
            table.replace(**other)


def test_cells_can_be_chosen_in_many_ways(small):
    south = small.cells({"region": "S", "size": ["1", "3"]})
    assert small.value[south].tolist() == [8, 22]
    assert small.value[small.cells({"region": "N", "size": None})].tolist() == [80, 20, 50, 10]
    frame = pl.DataFrame({"size": ["1", "3"], "region": ["S", "S"]})
    assert small.cells(frame).tolist() == south.tolist()
    assert small.cells(frame.to_pandas()).tolist() == south.tolist()
    assert small.cells([{"region": "S", "size": "1"}, {"region": "S", "size": 3}]).tolist() == (
        south.tolist()
    )
    assert small.cells(np.isin(np.arange(12), south)).tolist() == south.tolist()
    assert small.cells(south).tolist() == south.tolist()
    assert small.cells([]).tolist() == []


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"regio": "S"}, "no dimension 'regio'; did you mean 'region'"),
        ({"region": "W"}, "'region' has no code 'W'"),
        (np.array([True]), "one flag per cell"),
        (99, "no such cell.*99"),
        (np.array([0.5]), "codes, flags or positions"),
        (pl.DataFrame({"region": ["S"]}), "no column 'size'"),
    ],
)
def test_a_choice_that_is_not_there_is_named(small, choice, says):
    with pytest.raises(SchemaError, match=says):
        small.cells(choice)


def test_named_cells_of_bare_relations():
    table = Table(
        value=np.array([3.0, 1.0, 2.0]), relations=csr_array(np.array([[-1.0, 1.0, 1.0]])),
        names=("all", "left", "right"),
    )  # fmt: skip
    assert table.cells(["right"]).tolist() == [2]
    assert table.frame["cell"].to_list() == ["all", "left", "right"]
    with pytest.raises(SchemaError, match="no cell 'rigt'; did you mean 'right'"):
        table.cells(["rigt"])


def test_wishes_return_new_tables(small):
    wished = small.freeze({"region": "N"}).force({"region": "S"}).waive({"size": "1"})
    assert small.frozen is None
    assert np.flatnonzero(wished.frozen).tolist() == [small.cell(region="N")]
    assert np.flatnonzero(wished.forced).tolist() == [small.cell(region="S")]
    assert not wished.freeze({"region": "N"}, flag=False).frozen.any()
    with pytest.raises(ProtectionError, match=r"frozen and forced at once.*\(N, Total\)"):
        wished.force({"region": "N"})


def test_costs_and_bounds(small):
    cost = small.with_cost({"region": "N"}, 5).cost
    assert cost[small.cell(region="N")] == 5
    assert cost[small.cell(region="S")] == 49
    lower, upper = small.with_bounds({"region": "N"}, lower=60, upper=100).bounds
    assert (lower[small.cell(region="N")], upper[small.cell(region="N")]) == (60, 100)
    assert lower.sum() == 60
    with pytest.raises(DataError, match=r"must hold its value.*\(N, Total\)"):
        small.with_bounds({"region": "N"}, upper=79)
    with pytest.raises(DataError, match="cost cannot be negative"):
        small.with_cost({"region": "N"}, -1)


def test_bounds_are_numbers(small):
    with pytest.raises(DataError, match="must hold its value"):
        small.with_bounds([1], upper=float("nan"))


def test_bounds_of_tables_with_negative_values(small):
    assert small.bounds[0].max() == 0
    assert np.isneginf(small.replace(value=-small.value).bounds[0]).all()


def test_declared_cells_are_sensitive_without_a_rule(small):
    wished = small.declare_unsafe({"region": "S", "size": "1"}, below=2, above=3)
    found = wished.sensitive()
    cell = small.cell(region="S", size="1")
    assert found.primary.tolist() == [cell]
    assert (found.below[cell], found.above[cell]) == (2, 3)


def test_waived_cells_are_left_out_and_frozen_ones_refused(small):
    cells = np.isin(np.arange(12), [5, 6])
    found = Sensitive.by("rule", cells, 1.0)
    assert small.waive(np.array([5])).sensitive(found).primary.tolist() == [6]
    with pytest.raises(ProtectionError, match=r"must be published.*\(N, 1\)"):
        small.freeze(np.array([5])).sensitive(found)


def test_levels_of_the_user_stand_in_place_of_the_rules(small):
    found = Sensitive.by("rule", np.isin(np.arange(12), [5, 6]), 1.0)
    wished = small.with_levels(np.array([5, 7]), above=9.0).sensitive(found)
    assert wished.above[[5, 6, 7]].tolist() == [9, 1, 0]
    assert wished.below[[5, 6, 7]].tolist() == [1, 1, 0]


def test_the_frame_names_codes_values_and_counts(small):
    assert small.frame.columns == ["region", "size", "turnover"]
    row = small.frame.filter(pl.col("region") == "N", pl.col("size") == "2")
    assert row["turnover"].to_list() == [50]
    assert small.replace(count=np.arange(12)).frame["count"].to_list() == list(range(12))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers_are_not_additive(bad):
    """No sum with such a cell is missed: every comparison with it is false."""
    table = Table(np.array([bad, bad, 2.0]), csr_array([[-1.0, 1.0, 1.0]]))
    with pytest.raises(DataError, match=r"missing or without limit.*\(0\), \(1\)"):
        table.check_additive()
