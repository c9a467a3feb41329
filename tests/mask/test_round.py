"""Rounding: multiples of the base, unbiased at random, exact decimals."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import ParameterError, SchemaError
from tacit.mask import Round
from tacit.mask.round import round_real, round_whole

DIRECTIONS = ["nearest", "down", "up", "random"]
WHOLE = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40).map(np.array)
REAL = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=40).map(np.array)


def rng():
    return np.random.default_rng(3)


def applied(values, **parameters):
    data = tacit.Microdata.of(pl.DataFrame({"x": values}))
    return Round(columns=["x"], **parameters).apply(data, rng()).frame["x"]


def test_nearest_sends_a_tie_to_the_even_multiple():
    assert applied([5, 15, 25, 35, -5, -15], base=10).to_list() == [0, 20, 20, 40, 0, -20]
    assert applied([0.25, 0.75, -0.25], base=0.5).to_list() == [0.0, 1.0, 0.0]


def test_down_and_up_go_away_from_zero_and_towards_it_for_negatives():
    assert applied([-13, -10, 13], base=5, direction="down").to_list() == [-15, -10, 10]
    assert applied([-13, -10, 13], base=5, direction="up").to_list() == [-10, -10, 15]


def test_whole_numbers_stay_whole_with_a_whole_base_only():
    assert applied([1, 7], base=5.0).dtype == pl.Int64
    assert applied([1, 7], base=0.5).dtype == pl.Float64


def test_multiples_of_a_tenth_have_no_binary_dust():
    assert applied([0.31, 0.69, 1.11], base=0.1).to_list() == [0.3, 0.7, 1.1]
    assert str(applied([0.29], base=0.1)[0]) == "0.3"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_multiples_never_move(direction):
    tenths = [round(0.1 * i, 1) for i in range(-50, 50)]
    assert applied(tenths, base=0.1, direction=direction).to_list() == tenths


@pytest.mark.parametrize("direction", DIRECTIONS)
@settings(deadline=None)
@given(values=WHOLE, base=st.integers(1, 500))
def test_whole_results_are_neighbouring_multiples(values, base, direction):
    rounded = round_whole(values, base, direction, rng())
    assert np.all(rounded % base == 0)
    assert np.all(np.abs(rounded - values) < base)
    if direction == "down":
        assert np.all(rounded <= values)
    if direction == "up":
        assert np.all(rounded >= values)
    if direction == "nearest":
        assert np.all(2 * np.abs(rounded - values) <= base)


@pytest.mark.parametrize("direction", DIRECTIONS)
@settings(deadline=None)
@given(values=REAL, base=st.sampled_from([0.01, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 1 / 3]))
def test_real_results_are_close_multiples_and_stable(values, base, direction):
    rounded = round_real(values, base, direction, rng())
    index = rounded / base
    assert np.allclose(index, np.rint(index), atol=1e-6)
    assert np.all(np.abs(rounded - values) <= base * (1 + 1e-6) + 1e-9)
    assert np.array_equal(round_real(rounded, base, direction, rng()), rounded)


def test_random_rounding_is_unbiased():
    n = 200_000
    for value, base in [(3, 10), (-3, 10)]:
        rounded = round_whole(np.full(n, value), base, "random", rng())
        assert set(np.unique(rounded)) == {value - value % base, value - value % base + base}
        assert abs(rounded.mean() - value) < 5 * base / 2 / np.sqrt(n)
    rounded = round_real(np.full(n, 0.73), 0.5, "random", rng())
    assert abs(rounded.mean() - 0.73) < 5 * 0.25 / np.sqrt(n)


def test_missing_values_stay_missing_and_integers_stay_exact():
    large = 2**60 + 7  # ends in 83, and is not a double
    result = applied([large, None, 4], base=10)
    assert result.to_list() == [large - 3, None, 0]
    assert result.dtype == pl.Int64


def test_unsigned_and_huge_bases_do_not_overflow():
    series = pl.Series([2**63 + 5, 7], dtype=pl.UInt64)
    assert applied(series, base=10)[1] == 10
    assert applied([5, -5], base=1e300).to_list() == [0.0, 0.0]
    assert applied([2**62], base=2.0**62).to_list() == [2**62]


def test_infinite_values_stay():
    assert applied([np.inf, -np.inf, 12.0], base=5).to_list() == [np.inf, -np.inf, 10.0]


def test_small_integers_do_not_wrap_around():
    assert applied(pl.Series([120], dtype=pl.Int8), base=50).to_list() == [100]
    assert applied(pl.Series([127], dtype=pl.Int8), base=50, direction="up").to_list() == [150]


def test_empty_file():
    assert applied(pl.Series([], dtype=pl.Float64), base=5).to_list() == []


def test_other_columns_and_the_input_are_untouched():
    frame = pl.DataFrame({"x": [1.2, 3.4], "y": [1.2, 3.4]})
    copy = frame.clone()
    result = Round(columns="x", base=1).apply(tacit.Microdata.of(frame), rng()).frame
    assert frame.equals(copy)
    assert result["y"].equals(frame["y"])


@pytest.mark.parametrize("base", [0, -1, float("nan"), float("inf"), "ten"])
def test_bad_base_is_named(base):
    with pytest.raises(ParameterError, match="'base'"):
        Round(columns=["x"], base=base)


def test_text_cannot_be_rounded():
    with pytest.raises(SchemaError, match="numeric"):
        applied(["a"], base=5)


def test_description_is_in_plain_words():
    described = Round(columns=["x", "y"], base=100, direction="random").describe()
    assert described == "Rounding: x, y rounded at random, without bias, to a multiple of 100"
