"""Dimensions: codes, sums, and hierarchies that are wrong are refused by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import SchemaError
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.tables.dimension import Dimension, as_dimension

REGION = Dimension.nested("region", {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1"]})
TWO_WAYS = Dimension.nested(
    "size", {"Total": ["small", "large"], "small": ["1", "2"], "large": ["3"]},
    {"Total": ["odd", "even"], "odd": ["1", "3"], "even": ["2"]},
)  # fmt: skip


def test_codes_stand_below_their_parents():
    assert REGION.codes == ("Total", "N", "N1", "N2", "S", "S1")
    assert REGION.leaves == ("N1", "N2", "S1")
    assert REGION.depth.tolist() == [0, 1, 2, 2, 1, 2]
    assert REGION.total == "Total"


def test_contains_names_the_leaves_of_each_code():
    assert REGION.contains.toarray().tolist() == [
        [1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1],
    ]  # fmt: skip


def test_non_nested_breakdowns_share_leaves():
    held = dict(zip(TWO_WAYS.codes, TWO_WAYS.contains.toarray().tolist(), strict=True))
    assert held["small"] == [1, 1, 0]
    assert held["odd"] == [1, 0, 1]
    assert held["Total"] == [1, 1, 1]


@pytest.mark.parametrize("dimension", [REGION, TWO_WAYS, Dimension.flat("x", "abc")])
def test_levels_hold_every_code_once_with_its_leaves(dimension):
    seen = {}
    for level in dimension.levels:
        for code in set(level.tolist()) - {-1}:
            assert code not in seen
            seen[code] = np.flatnonzero(level == code).tolist()
    assert sorted(seen) == list(range(len(dimension.codes)))
    for code, leaves in seen.items():
        assert np.flatnonzero(dimension.contains[[code], :].toarray()[0]).tolist() == leaves


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_a_random_tree_counts_every_leaf_once(parents):
    """Node i + 1 hangs below node parents[i] modulo i + 1: always a tree."""
    children = {}
    for i, parent in enumerate(parents):
        children.setdefault(f"c{parent % (i + 1)}", []).append(f"c{i + 1}")
    tree = Dimension.nested("x", children, total="c0")
    assert len(tree.codes) == len(parents) + 1
    assert tree.contains.toarray()[0].sum() == len(tree.leaves)
    for parent, below in tree.sums:
        assert tree.contains.toarray()[below].sum(axis=0).max() == 1
        assert (tree.depth[below] == tree.depth[parent] + 1).all()


@pytest.mark.parametrize(
    ("children", "says"),
    [
        ({"Total": ["A", "B"], "A": ["B"]}, "'B' below 'Total' and 'A'"),
        ({"Total": ["A", "A"]}, "'A' below 'Total' and 'Total'"),
        ({"Total": ["A"], "X": ["B"]}, "not reached from the total.*X"),
        ({"All": ["A", "B"]}, "does not start at its total"),
        ({"Total": "AB"}, "must be a list of codes"),
        ({"Total": ["A"], "A": ["Total"]}, "part of itself"),
        ({"Total": []}, "each of its codes once"),
    ],
)
def test_a_bad_breakdown_is_named(children, says):
    with pytest.raises(SchemaError, match=says):
        Dimension.nested("x", children)


def test_a_code_twice_or_missing_is_named():
    with pytest.raises(SchemaError, match=r"has a code twice.*A"):
        Dimension(name="x", codes=("Total", "A", "A"))
    with pytest.raises(SchemaError, match=r"not in the list of codes.*Z"):
        Dimension(name="x", codes=("Total", "A"), groups=(("Total", ("A", "Z")),))
    with pytest.raises(SchemaError, match="at least the code of its total"):
        Dimension(name="x", codes=())


def test_a_line_of_headings_is_not_taken_for_a_code():
    tree = Tree(paths=[("region", "level"), ("a", "North"), ("b", "South")])
    with pytest.raises(SchemaError, match=r"code named like the column.*headings"):
        as_dimension("region", tree, ["a", "b"])
    assert "region" in as_dimension("region", tree, ["a", "b", "region"]).leaves
    assert as_dimension("other", tree, ["a", "b"]).leaves == ("region", "a", "b")


def test_breakdowns_that_do_not_agree_are_named():
    both = Dimension.nested("x", {"Total": ["A", "B"]}, {"Total": ["A", "C"]})
    with pytest.raises(SchemaError, match="'B' is in one and not in another"):
        _ = both.contains
    overlap = Dimension(
        name="x", codes=("Total", "A", "B", "a"),
        groups=(("Total", ("A", "B")), ("A", ("a",)), ("B", ("a",))),
    )  # fmt: skip
    with pytest.raises(SchemaError, match="add up to 'Total' overlap"):
        _ = overlap.contains


def test_trees_become_dimensions_and_repeated_labels_one_code():
    tree = Tree(paths=(("N1", "N", "*"), ("N2", "N", "*"), ("S", "S", "*")))
    dimension = Dimension.from_trees("region", tree)
    assert dimension.groups == (("N", ("N1", "N2")), ("Total", ("N", "S")))
    with pytest.raises(SchemaError, match="'A' below 'B' and 'C'"):
        Dimension.from_trees("x", Tree(paths=(("a", "A", "B"), ("A", "C", "C"))))


def test_prefixes_and_intervals_grow_from_the_codes_there_are():
    codes = as_dimension("zip", Prefixes(length=2), ["11", "12", "21"])
    assert codes.leaves == ("11", "12", "21")
    assert set(codes.codes) == {"Total", "1*", "2*", "11", "12", "21"}
    ages = as_dimension("age", Intervals(widths=(10,)), ["5", "7", "15"])
    assert ages.groups[0] == ("[0, 10)", ("5", "7"))
    assert as_dimension("zip", Prefixes(length=2), []).codes == ("Total",)


def test_what_may_be_given():
    assert as_dimension("x", None, ["b", "a"]).leaves == ("b", "a")
    assert as_dimension("x", REGION, []).name == "x"
    assert as_dimension("x", {"Total": ["a"]}, []).leaves == ("a",)
    assert as_dimension("x", [{"Total": ["a"]}, {"Total": ["a"]}], []).leaves == ("a",)
    with pytest.raises(SchemaError, match="Tree, a Dimension or parents"):
        as_dimension("x", 3, [])
    with pytest.raises(SchemaError, match="also the name of the total"):
        as_dimension("x", None, ["a", "Total"])
