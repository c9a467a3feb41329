"""Recoding: mappings, bins, widths and hierarchy levels."""

import datetime

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.schema import Kind
from tacit.mask import Recode


def microdata(values):
    return tacit.Microdata.of(pl.DataFrame({"x": values, "other": list(range(len(values)))}))


def recoded(data, **parameters):
    data = data if isinstance(data, tacit.Microdata) else microdata(data)
    return Recode(column="x", **parameters).apply(data, np.random.default_rng(1))


def values(data, **parameters):
    return recoded(data, **parameters).frame["x"].to_list()


# -- mapping ------------------------------------------------------------------------------------


def test_mapping_joins_categories_and_keeps_the_rest():
    old = ["widowed", "divorced", "married", None]
    joined = "widowed or divorced"
    assert values(old, mapping={"widowed": joined, "divorced": joined}) == [
        joined, joined, "married", None,
    ]  # fmt: skip


def test_mapping_with_other():
    assert values(["a", "b", "c", None], mapping={"a": "A"}, other="rest") == [
        "A", "rest", "rest", None,
    ]  # fmt: skip


def test_complete_mapping_refuses_what_it_does_not_name():
    with pytest.raises(DataError, match="1 values without a category, such as 'c'"):
        values(["a", "c"], mapping={"a": "A"}, complete=True)


def test_mapping_that_names_no_value_is_refused():
    with pytest.raises(DataError, match="did you mean 'Berlin'"):
        values(["Berlin", "Bonn"], mapping={"Berln": "city"})


def test_keys_are_text_but_match_by_value():
    assert values([1, 2, None], mapping={"1": "one", "2": "two"}) == ["one", "two", None]
    assert values([1.0, 2.5, None], mapping={"1": "one", 2.5: "half"}) == ["one", "half", None]
    assert values([True, False, None], mapping={True: "yes", "False": "no"}) == ["yes", "no", None]
    assert values([2**60 + 1, 0], mapping={2**60 + 1: "big"}) == ["big", "0"]


def test_decimals_are_numbers():
    prices = pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(10, 2))
    assert values(prices, mapping={"1.5": "low"}) == ["low", "2.25", None]
    assert values(prices, width=1) == ["[1, 2)", "[2, 3)", None]


def test_mapping_survives_a_plan_file():
    plan = tacit.Plan([Recode(column="x", mapping={1: "low", 2: "low", "3": "hïgh"})])
    again = tacit.Plan.from_toml(plan.to_toml())
    assert again == plan
    assert again.apply(microdata([1, 2, 3]), seed=1).frame["x"].to_list() == ["low", "low", "hïgh"]


def test_key_that_the_column_cannot_hold():
    for column, key in [([1, 2], "one"), ([1, 2], "1.5"), ([True], "perhaps")]:
        with pytest.raises(ParameterError, match=f"'mapping' must name values.*{key}"):
            values(column, mapping={key: "a"})


def test_key_given_twice():
    with pytest.raises(ParameterError, match="twice"):
        values([1, 2], mapping={"1": "a", "1.0": "b"})


def test_dates_cannot_be_mapped():
    with pytest.raises(SchemaError, match="categories or numbers"):
        values([datetime.date(2020, 1, 1)], mapping={"2020-01-01": "new year"})


def test_joining_neighbours_stays_ordinal():
    data = microdata(["low", "mid", "high"]).with_categories(x=["low", "mid", "high"])
    joined = recoded(data, mapping={"low": "lower", "mid": "lower"}).schema["x"]
    assert (joined.kind, joined.categories) == (Kind.ORDINAL, ("lower", "high"))
    torn = recoded(data, mapping={"low": "edge", "high": "edge"}).schema["x"]
    assert (torn.kind, torn.categories) == (Kind.NOMINAL, None)


# -- bins ---------------------------------------------------------------------------------------


def test_bins_have_open_ends_and_hold_their_lower_end():
    result = recoded([17, 18, 29, 30, 65, 99, None], bins=[18, 30, 65])
    assert result.frame["x"].to_list() == [
        "< 18", "[18, 30)", "[18, 30)", "[30, 65)", ">= 65", ">= 65", None,
    ]  # fmt: skip
    assert result.schema["x"].kind is Kind.ORDINAL
    assert result.schema["x"].categories == ("< 18", "[18, 30)", "[30, 65)", ">= 65")


def test_bins_with_labels():
    assert values([3, 40, 80], bins=[18, 65], labels=["child", "adult", "old"]) == [
        "child", "adult", "old",
    ]  # fmt: skip


def test_bins_accept_infinite_values():
    assert values([-np.inf, np.inf], bins=[0]) == ["< 0", ">= 0"]


@settings(deadline=None)
@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    cuts=st.lists(st.integers(-100, 100), min_size=1, max_size=40, unique=True).map(sorted),
)
def test_bins_agree_with_numpy(numbers, cuts):
    result = recoded(numbers, bins=cuts)
    names = np.array(result.schema["x"].categories)
    assert result.frame["x"].to_list() == names[np.digitize(numbers, cuts)].tolist()


# -- width --------------------------------------------------------------------------------------


def test_width_makes_ordered_classes():
    result = recoded([23.0, 30.0, 29.9, -1.0, None], width=10)
    assert result.frame["x"].to_list() == ["[20, 30)", "[30, 40)", "[20, 30)", "[-10, 0)", None]
    assert result.schema["x"].categories == ("[-10, 0)", "[20, 30)", "[30, 40)")


def test_width_with_origin():
    assert values([18, 22, 23], width=5, origin=18) == ["[18, 23)", "[18, 23)", "[23, 28)"]


def test_decimal_widths_have_exact_ends():
    tenths = [round(i / 10, 1) for i in range(-30, 30)]
    names = values(tenths, width=0.1)
    assert names[33] == "[0.3, 0.4)"
    for value, name in zip(tenths, names, strict=True):
        low, high = name.strip("[)").split(", ")
        assert float(low) == value < float(high)
        assert len(low) <= 4


@settings(deadline=None)
@given(
    numbers=st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=30),
    width=st.sampled_from([0.1, 0.25, 1, 3, 7.5, 100]),
    origin=st.sampled_from([0, 0.5, 18]),
)
def test_every_number_lies_in_its_class(numbers, width, origin):
    for number, name in zip(numbers, values(numbers, width=width, origin=origin), strict=True):
        low, high = (float(end) for end in name.strip("[)").split(", "))
        assert low <= number < high
        assert high - low == pytest.approx(width)


def test_infinite_values_have_no_class():
    for value in (np.inf, 1e300):
        with pytest.raises(DataError, match="too large"):
            values([1.0, value], width=1)


def test_width_of_all_missing_values():
    result = recoded(pl.Series([None, None], dtype=pl.Int64), width=10)
    assert result.frame["x"].to_list() == [None, None]
    assert result.schema["x"].kind is Kind.ORDINAL


# -- level --------------------------------------------------------------------------------------

TREE = [["N1", "North", "all"], ["N2", "North", "all"], ["S1", "South", "all"]]


def test_level_of_a_tree_keeps_the_levels_above():
    result = recoded(microdata(["N1", "S1", None, "?"]).with_hierarchies(x=TREE), level=1)
    assert result.frame["x"].to_list() == ["North", "South", None, "*"]
    assert result.schema["x"].kind is Kind.NOMINAL
    again = recoded(result, level=1)
    assert again.frame["x"].to_list()[:2] == ["all", "all"]
    assert again.schema["x"].hierarchy is None


def test_level_of_intervals_stays_ordered_and_keeps_a_tree():
    hierarchy = tacit.Intervals(widths=(5, 10))
    result = recoded(microdata([3, 12, 107, None]).with_hierarchies(x=hierarchy), level=1)
    assert result.frame["x"].to_list() == ["[0, 5)", "[10, 15)", "[105, 110)", None]
    assert result.schema["x"].categories == ("[0, 5)", "[10, 15)", "[105, 110)")
    again = recoded(result, level=1)
    assert again.frame["x"].to_list() == ["[0, 10)", "[10, 20)", "[100, 110)", None]
    assert again.schema["x"].kind is Kind.ORDINAL


def test_top_level_of_intervals():
    data = microdata([3, 12]).with_hierarchies(x=tacit.Intervals(widths=(5, 10)))
    assert values(data, level=3) == ["*", "*"]


def test_level_of_prefixes_keeps_the_shorter_ones():
    data = microdata(["81667", "81675"]).with_hierarchies(x=tacit.Prefixes(length=5))
    result = recoded(data, level=2)
    assert result.frame["x"].to_list() == ["816**", "816**"]
    assert values(result, level=1) == ["81***", "81***"]


def test_level_of_an_ordinal_tree_stays_ordinal():
    data = tacit.datasets.census(100)
    education = Recode(column="education", level=1).apply(data, np.random.default_rng(1))
    variable = education.schema["education"]
    assert variable.kind is Kind.ORDINAL
    assert set(education.frame["education"].drop_nulls()) <= set(variable.categories)


def test_no_hierarchy_and_no_such_level():
    with pytest.raises(SchemaError, match="'x' has no hierarchy"):
        values(["a"], level=1)
    with pytest.raises(ParameterError, match=r"'level'.*choose 1 to 2"):
        values(microdata(["N1"]).with_hierarchies(x=TREE), level=3)


# -- all ways -----------------------------------------------------------------------------------


def test_edit_rules_about_the_column_are_dropped_so_that_a_release_can_be_checked():
    data = tacit.datasets.census(100)
    release = tacit.Plan([Recode(column="income", width=1000)]).apply(data, seed=1)
    assert all("income" not in rule.columns for rule in release.data.schema.constraints)
    assert release.newly_broken == {}


def test_weights_cannot_become_labels():
    data = microdata([1.0, 2.0]).with_roles(weight="x")
    with pytest.raises(SchemaError, match="weights"):
        values(data, width=1)


@pytest.mark.parametrize(
    ("parameters", "engine_values"),
    [
        ({"mapping": {"1": "one"}}, ["one", "2", None]),
        ({"bins": [2]}, ["< 2", ">= 2", None]),
        ({"width": 2}, ["[0, 2)", "[2, 4)", None]),
    ],
)
def test_recoding_runs_inside_an_engine(parameters, engine_values):
    connection = duckdb.connect()
    relation = connection.sql("select * from (values (1), (2), (null)) as t(x)")
    result = Recode(column="x", **parameters).apply(
        tacit.Microdata.of(relation), np.random.default_rng(1)
    )
    assert isinstance(result.frame, duckdb.DuckDBPyRelation)
    assert sorted(result.frame.fetchall(), key=str) == sorted(
        [(v,) for v in engine_values], key=str
    )


@pytest.mark.parametrize(
    ("hierarchy", "rows", "expected"),
    [
        (TREE, "('N1'), ('?'), (null)", {"North", "*", None}),
        (tacit.Intervals(widths=(5,)), "(11), (null)", {"[10, 15)", None}),
        (tacit.Prefixes(length=5), "('81667'), (null)", {"8166*", None}),
    ],
)
def test_levels_inside_an_engine(hierarchy, rows, expected):
    relation = duckdb.sql(f"select * from (values {rows}) as t(x)")  # noqa: S608
    data = tacit.Microdata.of(relation).with_hierarchies(x=hierarchy)
    assert {value for (value,) in recoded(data, level=1).frame.fetchall()} == expected


def test_the_input_and_other_columns_are_untouched():
    frame = pl.DataFrame({"x": [1, 2], "y": [1, 2]})
    copy = frame.clone()
    result = Recode(column="x", width=2).apply(tacit.Microdata.of(frame), np.random.default_rng(1))
    assert frame.equals(copy)
    assert result.frame["y"].equals(frame["y"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "needs one of"),
        ({"width": 5, "level": 1}, "'width' and 'level'"),
        ({"mapping": {}}, "at least one category"),
        ({"mapping": {"a": "b"}, "complete": True, "other": "c"}, "not both"),
        ({"bins": [30, 18]}, "ascending"),
        ({"bins": [18], "labels": ["a"]}, "needs 2 'labels'"),
        ({"bins": [18], "labels": ["a", "a"]}, "different"),
        ({"bins": [float("nan")]}, "'bins"),
        ({"width": 0}, "'width"),
        ({"level": 0}, "'level"),
        ({"level": 1, "other": "x"}, "'other' only together with 'mapping'"),
        ({"bins": [1], "origin": 3}, "'origin' only together with 'width'"),
        ({"mapping": {"a": ["b"]}}, "'mapping"),
        ({"widht": 5}, "did you mean 'width'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Recode(column="x", **parameters)


@pytest.mark.parametrize("parameters", [{"bins": [1]}, {"width": 2}])
def test_text_has_no_classes(parameters):
    with pytest.raises(SchemaError, match="numeric"):
        values(["a"], **parameters)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"mapping": {"a": "c", "b": "c"}}, "2 values were joined into 1"),
        ({"bins": [18, 65]}, "cut at 18, 65"),
        ({"width": 0.5}, "cut into classes of width 0.5"),
        ({"level": 2}, "replaced by level 2 of the hierarchy"),
    ],
)
def test_description_is_in_plain_words(parameters, text):
    assert Recode(column="x", **parameters).describe() == f"Global recoding of x: {text}"
