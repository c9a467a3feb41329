"""Bottom coding: the mirror image of top coding."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import ParameterError, ProtectionError
from tacit.core.schema import Kind
from tacit.mask import BottomCode, TopCode

NUMBERS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=40)


def microdata(values, **columns):
    return tacit.Microdata.of(pl.DataFrame({"x": values, **columns}))


def coded(data, method=BottomCode, **parameters):
    data = data if isinstance(data, tacit.Microdata) else microdata(data)
    return method(column="x", **parameters).apply(data, np.random.default_rng(1))


def values(data, **parameters):
    return coded(data, **parameters).frame["x"].to_list()


def test_threshold_replaces_all_below_it():
    assert values([10, 17, 18, None], threshold=17) == [17, 17, 18, None]


def test_category_comes_first():
    result = coded([10, 17, 30, 18, None], threshold=17, replacement="category")
    assert result.frame["x"].to_list() == ["<= 17", "<= 17", "30", "18", None]
    assert result.schema["x"].categories == ("<= 17", "18", "30")


def test_mean_keeps_the_total():
    assert sum(values([1, 2, 6, 90], threshold=6, replacement="mean")) == pytest.approx(99)
    with pytest.raises(ProtectionError, match="1 records at or beyond 1"):
        values([1, 2, 6, 90], threshold=1, replacement="mean")


def test_quantile_is_weighted():
    data = microdata([1, 2, 3], w=[8.0, 1.0, 1.0]).with_roles(weight="w")
    assert values(data, quantile=0.85) == [2, 2, 3]
    assert values(microdata([1, 2, 3]), quantile=0.2) == [1, 2, 3]


@settings(deadline=None)
@given(NUMBERS, st.integers(-1000, 1000))
def test_no_released_value_is_below_the_threshold(numbers, threshold):
    assert min(values(numbers, threshold=threshold)) >= threshold


@settings(deadline=None)
@given(NUMBERS, st.integers(-1000, 1000))
def test_bottom_coding_is_top_coding_of_the_opposite(numbers, threshold):
    mirrored = coded([-n for n in numbers], TopCode, threshold=-threshold).frame["x"]
    assert values(numbers, threshold=threshold) == (-mirrored).to_list()


def test_ordinal_tail():
    data = microdata(["a", "b", "c", None]).with_categories(x=["a", "b", "c"])
    result = coded(data, threshold="b", replacement="category", label="a or b")
    assert result.frame["x"].to_list() == ["a or b", "a or b", "c", None]
    assert result.schema["x"].kind is Kind.ORDINAL
    assert result.schema["x"].categories == ("a or b", "c")
    assert values(data, threshold="b") == ["b", "b", "c", None]


def test_top_and_bottom_of_the_same_column():
    data = microdata(list(range(100)))
    plan = tacit.Plan([BottomCode(column="x", threshold=10), TopCode(column="x", threshold=90)])
    result = plan.apply(data, seed=1).frame["x"]
    assert (result.min(), result.max()) == (10, 90)


def test_exactly_one_of_threshold_and_quantile():
    with pytest.raises(ParameterError, match="either 'threshold' or 'quantile'"):
        BottomCode(column="x")
