"""Bins are round, hold every value, and do not end at anybody's value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.report import _bins

numbers = st.lists(
    st.floats(-1e12, 1e12, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6), min_size=1
)


@given(numbers, numbers)
def test_every_value_is_counted_once(before, after):
    samples = [np.array(before), np.array(after)]
    bins = _bins.of_numbers(samples)
    if bins is None:
        return
    assert len(bins.edges) == len(bins.labels) + 1
    assert all(np.diff(bins.edges) > 0)
    for sample in samples:
        assert sum(bins.count(sample)) == len(sample)


@given(st.lists(st.integers(-700_000, 2_900_000), min_size=1, max_size=40))
def test_every_date_is_counted_once(days):
    sample = np.array(days, dtype=float)
    bins = _bins.of_dates([sample])
    assert sum(bins.count(sample)) == len(days)
    assert len(bins.labels) <= 60
    assert len(set(bins.labels)) == len(bins.labels)


def test_counts_are_those_of_a_histogram():
    values = np.random.default_rng(1).normal(50, 10, 10_000)
    bins = _bins.of_numbers([values])
    inside = (values >= bins.edges[1]) & (values < bins.edges[-2])
    expected, _ = np.histogram(values[inside], bins=bins.edges[1:-1])
    assert bins.count(values)[1:-1] == tuple(expected)


def test_extremes_are_not_shown():
    values = np.r_[np.random.default_rng(1).normal(50, 10, 5000), 12345.678, -4321.5]
    bins = _bins.of_numbers([values])
    assert max(bins.edges) < 120
    assert bins.labels[-1].endswith("and above")
    assert bins.labels[0].startswith("below")
    assert "12345" not in bins.note.replace(",", "")


def test_few_whole_numbers_keep_their_names():
    values = np.repeat([0.0, 1.0, 2.0, 3.0], 4)
    bins = _bins.of_numbers([values])
    assert bins.labels == ("0", "1", "2", "3")
    assert bins.count(values) == (4, 4, 4, 4)


def test_a_single_large_family_is_not_shown():
    values = np.r_[np.repeat([0.0, 1.0, 2.0, 3.0], 10), 6.0]
    bins = _bins.of_numbers([values, values[:-1]])
    assert bins.labels == ("0", "1", "2", "3", "4 and above")
    assert bins.count(values) == (10, 10, 10, 10, 1)


def test_very_skewed_numbers_get_growing_classes():
    values = np.random.default_rng(1).lognormal(8, 3, 5000)
    bins = _bins.of_numbers([values])
    assert not bins.is_even
    assert max(bins.count(values)) < 0.4 * len(values)


def test_skewed_numbers_with_negative_ones():
    values = np.r_[np.random.default_rng(1).lognormal(8, 3, 5000), [-5.0] * 20]
    bins = _bins.of_numbers([values])
    assert bins.labels[0] == "below 0"
    assert bins.count(values)[0] == 20


@pytest.mark.parametrize("value", [0.0, 7.0, 0.123, -3e9, 1e15, 2.0**62, 1e-300])
def test_constants(value):
    bins = _bins.of_numbers([np.full(5, value)])
    assert bins is None or sum(bins.count(np.full(5, value))) == 5


def test_nothing_and_too_much():
    assert _bins.of_numbers([np.array([])]) is None
    assert _bins.of_dates([np.array([]), np.array([])]) is None
    assert _bins.of_numbers([np.array([1e308, -1e308])]) is None


@pytest.mark.parametrize(
    ("days", "first"), [(10, "1970-01-01"), (100, "week of 1969-12-29"), (700, "1970-01"),
                        (2500, "1970 Q1"), (9000, "1970"), (60_000, "from 1970")]
)  # fmt: skip
def test_periods_fit_the_range(days, first):
    assert _bins.of_dates([np.array([0.0, days])]).labels[0] == first
