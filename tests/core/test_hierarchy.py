"""Value hierarchies, on every engine."""

from itertools import pairwise

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.core.hierarchy import ANY, Intervals, Prefixes, Tree, as_hierarchy

TREE = Tree(paths=[("a", "vowel", "*"), ("e", "vowel", "*"), ("b", "consonant", "*")])
BASE = pl.DataFrame(
    {
        "text": ["a", "b", "?", None],
        "whole": [12, -7, 0, None],
        "number": [0.5, -0.25, 12.0, None],
        "code": ["81667", "8166", "1", None],
    }
)


def _ibis():
    import ibis

    return ibis.memtable(BASE.to_arrow())


ENGINES = {
    "polars": lambda: BASE,
    "lazy": BASE.lazy,
    "pandas": BASE.to_pandas,
    "arrow": BASE.to_arrow,
    "duckdb": lambda: duckdb.from_arrow(BASE.to_arrow()),
    "ibis": _ibis,
}


@pytest.fixture(params=ENGINES)
def data(request):
    return Microdata.of(ENGINES[request.param]())


def coarse(data, column, hierarchy, level):
    changed = data.with_columns(**{column: hierarchy.generalise(nw.col(column), level)})
    return changed.local[column].to_list()


def test_tree_on_every_engine(data):
    assert coarse(data, "text", TREE, 0) == ["a", "b", "?", None]
    assert coarse(data, "text", TREE, 1) == ["vowel", "consonant", ANY, None]
    assert coarse(data, "text", TREE, 2) == [ANY, ANY, ANY, None]


def test_tree_of_numbers_on_every_engine(data):
    """pandas carries whole numbers beside a missing value as floats: 12.0 is still 12."""
    tree = Tree(paths=[("12", "even"), ("0", "even"), ("13", "odd")])
    assert coarse(data, "whole", tree, 1) == ["even", ANY, "even", None]


def test_a_code_that_ends_in_point_zero_is_its_own_leaf():
    tree = Tree(paths=[("1", "one"), ("1.0", "one point zero")])
    data = Microdata.of(pl.DataFrame({"c": ["1", "1.0"]}))
    assert coarse(data, "c", tree, 1) == ["one", "one point zero"]


def test_intervals_on_every_engine(data):
    hierarchy = Intervals(widths=(5, 10))
    assert coarse(data, "whole", hierarchy, 1) == ["[10, 15)", "[-10, -5)", "[0, 5)", None]
    assert coarse(data, "whole", hierarchy, 2) == ["[10, 20)", "[-10, 0)", "[0, 10)", None]
    assert coarse(data, "whole", hierarchy, 3) == [ANY, ANY, ANY, None]
    assert coarse(data, "number", hierarchy, 1) == ["[0, 5)", "[-5, 0)", "[10, 15)", None]


def test_broken_intervals_on_every_engine(data):
    hierarchy = Intervals(widths=(0.5,), origin=0.25)
    expected = ["[0.25, 0.75)", "[-0.25, 0.25)", "[11.75, 12.25)", None]
    assert coarse(data, "number", hierarchy, 1) == expected


def test_level_zero_of_intervals_is_the_number(data):
    assert coarse(data, "whole", Intervals(widths=(5,)), 0) == [12, -7, 0, None]


def test_prefixes_on_every_engine(data):
    hierarchy = Prefixes(length=5)
    assert hierarchy.n_levels == 6
    assert coarse(data, "code", hierarchy, 0) == ["81667", "8166", "1", None]
    assert coarse(data, "code", hierarchy, 1) == ["8166*", "*", "*", None]
    assert coarse(data, "code", hierarchy, 4) == ["8****", "*", "*", None]
    assert coarse(data, "code", hierarchy, 5) == [ANY, ANY, ANY, None]


def test_prefixes_keep_what_they_are_told():
    hierarchy = Prefixes(length=5, keep=(3, 0))
    data = Microdata.of(BASE)
    assert hierarchy.n_levels == 3
    assert coarse(data, "code", hierarchy, 1)[0] == "816**"
    assert coarse(data, "code", hierarchy, 2)[0] == ANY


def test_prefixes_count_characters_not_bytes():
    data = Microdata.of(pl.DataFrame({"c": ["éàü", "東京都"]}))
    assert coarse(data, "c", Prefixes(length=3), 1) == ["éà*", "東京*"]


def test_infinite_and_huge_numbers_have_no_interval():
    data = Microdata.of(pl.DataFrame({"x": [float("inf"), -float("inf"), 1e300, 1.0, None]}))
    assert coarse(data, "x", Intervals(widths=(5,)), 1) == [ANY, ANY, ANY, "[0, 5)", None]


@pytest.mark.parametrize("hierarchy", [TREE, Intervals(widths=(5,)), Prefixes(length=2)])
@pytest.mark.parametrize("level", [-1, 99])
def test_levels_that_are_not_there(hierarchy, level):
    with pytest.raises(ParameterError, match=r"no such level \(got .*choose 0 to"):
        hierarchy.generalise(nw.col("x"), level)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree(paths=[]), "at least one leaf"),
        (lambda: Tree(paths=[("a", "*"), ("b",)]), "same number of levels"),
        (lambda: Tree(paths=[("a", "*"), ("a", "*")]), "each leaf once; twice: a"),
        (lambda: Tree(paths=[("a", "x", "p"), ("b", "x", "q")]), "'x' has two parents"),
        (lambda: Intervals(widths=()), "above 0"),
        (lambda: Intervals(widths=(0,)), "above 0"),
        (lambda: Intervals(widths=(float("nan"),)), "above 0"),
        (lambda: Intervals(widths=(float("inf"),)), "above 0"),
        (lambda: Intervals(widths=(5, 12)), "multiples"),
        (lambda: Intervals(widths=(5, 5)), "multiples"),
        (lambda: Intervals(widths=(5,), origin=float("inf")), "origin"),
        (lambda: Prefixes(length=0), "length"),
        (lambda: Prefixes(length=3, keep=(3,)), "fewer characters"),
        (lambda: Prefixes(length=3, keep=(1, 2)), "fewer characters"),
        (lambda: Prefixes(length=3, keep=(-1,)), "fewer characters"),
        (lambda: Prefixes(length=3, kep=(1,)), "did you mean 'keep'"),
    ],
)
def test_bad_hierarchies_say_what_is_wrong(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_hierarchies_are_made_from_plain_data():
    assert as_hierarchy([("a", "*")]) == Tree(paths=[("a", "*")])
    assert as_hierarchy({"form": "intervals", "widths": [5]}) == Intervals(widths=(5,))
    assert as_hierarchy({"paths": [["a", "*"]]}) == Tree(paths=[("a", "*")])
    assert as_hierarchy(TREE) is TREE
    for bad in (3, "tree", None, {"form": "forest"}):
        with pytest.raises(ParameterError, match="a hierarchy is a Tree"):
            as_hierarchy(bad)


@pytest.mark.parametrize(
    "hierarchy", [TREE, Intervals(widths=(5, 10), origin=2), Prefixes(length=4, keep=(2, 0))]
)
def test_plain_data_of_a_hierarchy_rebuild_it(hierarchy):
    assert as_hierarchy(hierarchy.as_dict()) == hierarchy


def test_arrow_dictionaries_can_be_generalised():
    table = pa.table({"text": pa.array(["a", "b", None]).dictionary_encode()})
    assert coarse(Microdata.of(table), "text", TREE, 1) == ["vowel", "consonant", None]


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30),
    st.sampled_from([(1.0, 5.0, 10.0), (0.5, 1.0, 4.0), (7.0, 21.0, 42.0)]),
    st.integers(-20, 20),
)
@settings(max_examples=60, deadline=None)
def test_intervals_hold_their_numbers_and_nest(values, widths, origin):
    hierarchy = Intervals(widths=widths, origin=origin)
    data = Microdata.of(pl.DataFrame({"x": values}))
    levels = [coarse(data, "x", hierarchy, k) for k in range(hierarchy.n_levels)]
    for label, value in zip(levels[1], values, strict=True):
        low, high = (float(part) for part in label[1:-1].split(","))
        assert low <= value < high or np.isclose(value, [low, high], rtol=1e-9).any()
    for fine, coarser in pairwise(levels[1:]):
        assert len(set(zip(fine, coarser, strict=True))) == len(set(fine))


@given(st.lists(st.text(min_size=0, max_size=8), min_size=1, max_size=20), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_prefixes_nest(codes, length):
    hierarchy = Prefixes(length=length)
    data = Microdata.of(pl.DataFrame({"x": codes}))
    levels = [coarse(data, "x", hierarchy, k) for k in range(hierarchy.n_levels)]
    for fine, coarser in pairwise(levels[1:]):
        assert len(set(zip(fine, coarser, strict=True))) == len(set(fine))
