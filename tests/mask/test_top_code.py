"""Top coding, and what it shares with bottom coding."""

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError
from tacit.core.schema import Kind
from tacit.mask import TopCode
from tacit.mask._tail import weighted_quantile

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=40)
AGES = [10, 30, 64, 65, 80, None]


def microdata(values, **columns):
    return tacit.Microdata.of(pl.DataFrame({"x": values, **columns}))


def coded(data, **parameters):
    data = data if isinstance(data, tacit.Microdata) else microdata(data)
    return TopCode(column="x", **parameters).apply(data, np.random.default_rng(1))


def values(data, **parameters):
    return coded(data, **parameters).frame["x"].to_list()


# -- numbers ------------------------------------------------------------------------------------


def test_threshold_replaces_all_above_it():
    assert values(AGES, threshold=65) == [10, 30, 64, 65, 65, None]
    assert coded(AGES, threshold=65).frame["x"].dtype == pl.Int64


def test_fractional_threshold_of_whole_numbers():
    assert values([1, 2, 3], threshold=2.5) == [1.0, 2.0, 2.5]


def test_category_holds_the_threshold_itself():
    result = coded([30, 10, 65, 80, None, 64], threshold=65, replacement="category")
    assert result.frame["x"].to_list() == ["30", "10", "65+", "65+", None, "64"]
    assert result.schema["x"].kind is Kind.ORDINAL
    assert result.schema["x"].categories == ("10", "30", "64", "65+")


def test_category_with_a_label_and_fractions():
    result = coded([1.5, 2.0, 9.0], threshold=3, replacement="category", label="viel")
    assert result.frame["x"].to_list() == ["1.5", "2", "viel"]


def test_mean_of_the_tail_keeps_the_total_and_makes_whole_numbers_real():
    result = coded([1, 2, 10, 20, 40], threshold=10, replacement="mean").frame["x"]
    assert result.dtype == pl.Float64
    assert result.to_list() == pytest.approx([1, 2, 70 / 3, 70 / 3, 70 / 3])
    assert result.sum() == pytest.approx(73)


def test_median_of_the_tail():
    assert values([1, 10, 20, 40, 90], threshold=10, replacement="median") == [1] + [30.0] * 4
    assert values([1, 10, 20, 90], threshold=10, replacement="median") == [1] + [20.0] * 3


def test_weighted_mean_keeps_the_weighted_total():
    data = microdata([1.0, 10.0, 20.0, 40.0], w=[1.0, 5.0, 1.0, 2.0]).with_roles(weight="w")
    result = coded(data, threshold=10, replacement="mean").frame
    assert (result["x"] * result["w"]).sum() == pytest.approx(1 + 50 + 20 + 80)
    assert result["x"][1] == pytest.approx(150 / 8)


def test_weighted_median():
    data = microdata([10.0, 20.0, 40.0], w=[1.0, 1.0, 9.0]).with_roles(weight="w")
    assert values(data, threshold=1, replacement="median") == [40.0] * 3


def test_quantile_takes_its_threshold_from_the_data():
    numbers = list(range(1, 101))
    result = np.array(values(numbers, quantile=0.95))
    assert result.max() == 95
    assert (result == 95).sum() == 6


def test_weighted_quantile_moves_with_the_weights():
    data = microdata([1.0, 2.0, 3.0], w=[1.0, 1.0, 8.0]).with_roles(weight="w")
    assert values(data, quantile=0.2) == [1.0, 2.0, 2.0]
    assert values(data, quantile=0.3) == [1.0, 2.0, 3.0]


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_quantile_agrees_with_numpy(numbers, share):
    assume(abs(share * len(numbers) - round(share * len(numbers))) > 1e-6)
    expected = np.quantile(numbers, share, method="inverted_cdf")
    assert weighted_quantile(np.array(numbers), np.ones(len(numbers)), share) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.07, 7), (0.14, 14), (0.29, 29), (0.57, 57)])
def test_quantile_is_not_misled_by_binary_fractions(share, expected):
    assert weighted_quantile(np.arange(1, 101), np.ones(100), share) == expected


def test_ties_at_the_quantile_are_coded_together():
    assert values([1, 5, 5, 5, 9], quantile=0.5, replacement="category") == ["1"] + ["5+"] * 4


def test_constant_column():
    assert values([7, 7, 7], quantile=0.9) == [7, 7, 7]
    assert values([7, 7, 7], quantile=0.9, replacement="category") == ["7+"] * 3


@settings(deadline=None)
@given(NUMBERS, st.floats(-1e6, 1e6))
def test_no_released_value_is_above_the_threshold(numbers, threshold):
    result = np.array(values(numbers, threshold=threshold))
    assert np.all(result <= threshold)
    assert np.array_equal(
        result[np.array(numbers) < threshold], np.array(numbers)[np.array(numbers) < threshold]
    )


@settings(deadline=None)
@given(NUMBERS, st.sampled_from([0.3, 0.5, 0.9]), st.sampled_from(["mean", "median"]))
def test_the_tail_gets_one_common_value(numbers, share, replacement):
    numbers = np.array(numbers)
    threshold = weighted_quantile(numbers, np.ones(len(numbers)), share)
    assume((numbers >= threshold).sum() >= 3)
    result = np.array(values(numbers, quantile=share, replacement=replacement))
    assert len(np.unique(result[numbers >= threshold])) == 1
    assert np.array_equal(result[numbers < threshold], numbers[numbers < threshold])
    if replacement == "mean":
        assert result.sum() == pytest.approx(numbers.sum(), abs=1e-3)


@pytest.mark.parametrize("replacement", ["mean", "median"])
def test_the_mean_of_a_tiny_tail_is_refused(replacement):
    with pytest.raises(ProtectionError, match="2 records at or beyond 65, at_least = 3"):
        values([1, 2, 65, 99], threshold=65, replacement=replacement)
    assert values([1, 65, 99], threshold=65, replacement=replacement, at_least=2) == [1, 82, 82]


def test_an_empty_tail_changes_nothing():
    assert values([1, 2], threshold=65, replacement="mean") == [1, 2]
    assert values([1, 2], threshold=65, replacement="category") == ["1", "2"]


def test_infinite_values_can_be_coded_by_the_threshold_only():
    assert values([1.0, np.inf], threshold=10) == [1.0, 10.0]
    with pytest.raises(DataError, match="infinite"):
        values([1.0, 20.0, 30.0, np.inf], threshold=10, replacement="mean")


def test_too_many_values_for_categories():
    numbers = np.random.default_rng(1).random(20_000)
    with pytest.raises(DataError, match="too many different values"):
        values(numbers, threshold=0.9, replacement="category")


def test_all_missing():
    empty = pl.Series([None, None], dtype=pl.Float64)
    assert values(empty, threshold=3) == [None, None]
    with pytest.raises(DataError, match="no values"):
        values(empty, quantile=0.5)


def test_label_must_be_new():
    with pytest.raises(ParameterError, match="'label'"):
        values([1, 2, 3], threshold=3, replacement="category", label="2")


def test_runs_inside_an_engine():
    relation = duckdb.sql("select * from (values (1), (80), (null)) as t(x)")
    result = TopCode(column="x", threshold=65).apply(
        tacit.Microdata.of(relation), np.random.default_rng(1)
    )
    assert sorted(result.frame.fetchall(), key=str) == [(1,), (65,), (None,)]


# -- ordered categories -------------------------------------------------------------------------

LEVELS = ["low", "mid", "high", "top"]


def ordinal(values=("low", "high", "top", None, "mid")):
    return microdata(list(values)).with_categories(x=LEVELS)


def test_ordinal_threshold():
    result = coded(ordinal(), threshold="high")
    assert result.frame["x"].to_list() == ["low", "high", "high", None, "mid"]
    assert result.schema["x"].categories == ("low", "mid", "high")


def test_ordinal_category():
    result = coded(ordinal(), threshold="high", replacement="category")
    assert result.frame["x"].to_list() == ["low", "high+", "high+", None, "mid"]
    assert result.schema["x"].categories == ("low", "mid", "high+")


def test_ordinal_quantile():
    result = coded(ordinal(["low"] * 8 + ["high", "top"]), quantile=0.9, replacement="category")
    assert result.frame["x"].to_list() == ["low"] * 8 + ["high+"] * 2


def test_ordinal_needs_a_category_of_its_own():
    with pytest.raises(ParameterError, match=r"'threshold'.*did you mean 'high'"):
        coded(ordinal(), threshold="hihg")
    with pytest.raises(SchemaError, match="mean needs a numeric column"):
        coded(ordinal(), threshold="high", replacement="mean")
    with pytest.raises(DataError, match="none of its categories"):
        coded(ordinal(["low", "odd"]), threshold="high")
    with pytest.raises(SchemaError, match="order of the categories"):
        coded(microdata(["a"]).with_kinds(x="ordinal"), threshold="a")
    with pytest.raises(ParameterError, match="'label'"):
        coded(ordinal(), threshold="high", replacement="category", label="low")


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "either 'threshold' or 'quantile'"),
        ({"threshold": 1, "quantile": 0.5}, "either 'threshold' or 'quantile'"),
        ({"quantile": 1}, "'quantile"),
        ({"quantile": 0}, "'quantile"),
        ({"threshold": float("nan")}, "'threshold"),
        ({"threshold": 1, "at_least": 0}, "'at_least'"),
        ({"threshold": 1, "label": "old"}, "'label' only"),
        ({"threshold": 1, "replacement": "max"}, "'replacement'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        TopCode(column="x", **parameters)


def test_a_number_is_needed_for_numbers():
    with pytest.raises(ParameterError, match="'threshold' must be a number"):
        values([1, 2], threshold="old")


def test_nominal_columns_have_no_tail():
    with pytest.raises(SchemaError, match="numeric or ordinal"):
        values(["a"], threshold="a")


def test_plan_file_keeps_numbers_and_categories():
    plan = tacit.Plan(
        [TopCode(column="x", threshold=65), TopCode(column="y", threshold="high", at_least=5)]
    )
    assert tacit.Plan.from_toml(plan.to_toml()) == plan


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"threshold": 65}, "at or above 65 became that value"),
        ({"threshold": "high", "replacement": "category"}, "at or above high became one category"),
        (
            {"quantile": 0.95, "replacement": "mean"},
            "at or above the 95 % quantile became their mean",
        ),
    ],
)
def test_description_is_in_plain_words(parameters, text):
    assert TopCode(column="x", **parameters).describe() == f"Top coding: values of x {text}"


def test_a_threshold_that_looks_like_a_number_finds_its_category():
    grades = microdata(["1", "2", "3"]).with_categories(x=["1", "2", "3"])
    assert values(grades, threshold=2) == values(grades, threshold="2") == ["1", "2", "2"]
    with pytest.raises(ParameterError, match=r"got '4'"):
        values(grades, threshold=4)
