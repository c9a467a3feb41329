"""Interval disclosure: by hand, by definition, monotone."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError, ParameterError

COLUMNS = ["age", "hours", "income", "taxes"]


def measured(before, after, **options):
    original, released = (Microdata.of(pl.DataFrame({"x": x})) for x in (before, after))
    return risk.IntervalDisclosure(attributes=["x"], **options).measure(
        original, released.numbered()
    )


def test_by_hand():
    before = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    after = [2.0, 1.0, 3.0, 6.0, 5.0, 4.0, 7.0, 8.0, 10.0, 9.0]
    ranks = measured(before, after, widths=[5, 10, 20])
    # 5 %: only equal values; 10 %: one rank to either side; 20 %: two ranks.
    assert ranks.details["by_width"] == {"5 %": 0.4, "10 %": 0.8, "20 %": 1.0}
    assert ranks.value == pytest.approx((0.4 + 0.8 + 1.0) / 3)
    assert ranks.per_unit[3] == pytest.approx(1 / 3)
    deviation = measured(before, after, interval="deviation", widths=[1, 34, 70])
    # The standard deviation is 3.0277: 34 % of it is 1.029, 70 % is 2.119.
    assert deviation.details["by_width"] == {"1 %": 0.4, "34 %": 0.8, "70 %": 1.0}


@given(st.integers(1, 40), st.sampled_from([3, 50]), st.integers(0, 1000))
def test_rank_intervals_equal_the_definition(n, n_values, seed):
    rng = np.random.default_rng(seed)
    before, after = rng.integers(0, n_values, (2, n)).astype(float)
    found = measured(before, after, widths=[10])
    ordered = np.sort(after)
    reach = int(np.floor(0.1 * n + 1e-9))
    for i in range(n):
        inside = [
            ordered[max(rank - reach, 0)] <= before[i] <= ordered[min(rank + reach, n - 1)]
            for rank in np.flatnonzero(ordered == after[i])
        ]
        assert found.per_unit[i] == pytest.approx(np.mean(inside))


def test_a_value_that_many_share_discloses_little():
    """Ten people in two groups of five; with two ranks to either side two of five look across."""
    before = np.arange(10.0)
    after = np.repeat([2.0, 7.0], 5)
    found = measured(before, after, widths=[20])
    # Between the means lie 3, 4, 5, 6; 2 and 7 are their own mean; 0, 1, 8, 9 lie outside of all.
    expected = [0, 0, 1, 0.4, 0.4, 0.4, 0.4, 1, 0, 0]
    np.testing.assert_allclose(found.per_unit, expected)
    assert found.details["records_wholly_inside"]["20 %"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("interval", ["rank", "deviation"])
def test_identity_and_constant(interval):
    data = tacit.datasets.census(300)
    measure = risk.IntervalDisclosure(attributes=["age"], interval=interval)
    assert measure.measure(data).value == 1
    flat = data.with_arrays({"age": np.full(300, 1000)}).numbered()
    assert measure.measure(data, flat).value == 0


@pytest.mark.parametrize("interval", ["rank", "deviation"])
@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (lambda k: mask.Mdav(columns=COLUMNS, k=k), (2, 10, 50, 100)),
        (lambda p: mask.RankSwap(columns=COLUMNS, p=p), (1, 10, 40)),
        (lambda s: mask.UncorrelatedNoise(columns=COLUMNS, level=s), (0.02, 0.2, 1.0)),
    ],
    ids=["mdav", "rank-swap", "noise"],
)
def test_falls_on_average_as_masking_grows(make, parameters, interval):
    data = tacit.datasets.census(300)
    measure = risk.IntervalDisclosure(attributes=COLUMNS, interval=interval)
    values = [
        np.mean(
            [
                measure.measure(data, tacit.Plan([make(p)]).apply(data, seed=s)).value
                for s in range(3)
            ]
        )
        for p in parameters
    ]
    assert all(a > b for a, b in pairwise(values)), values


def test_averages_agree_with_each_other():
    data = tacit.datasets.census(200)
    release = tacit.Plan([mask.RankSwap(columns=COLUMNS, p=10)]).apply(data, seed=1)
    found = risk.IntervalDisclosure(attributes=COLUMNS).measure(data, release)
    for part in ("by_attribute", "by_width"):
        assert np.mean(list(found.details[part].values())) == pytest.approx(found.value, abs=1e-6)
    assert found.per_unit.mean() == pytest.approx(found.value, abs=1e-6)
    shares = list(found.details["by_width"].values())
    assert shares == sorted(shares), "wider intervals hold more"
    wholly = found.details["records_wholly_inside"]
    assert all(wholly[w] <= found.details["by_width"][w] + 1e-6 for w in wholly)


def test_missing_suppressed_and_unreleased_values():
    before, after = [1.0, None, 3.0, 4.0], [1.0, 2.0, None, 4.0]
    found = measured(before, after, widths=[1])
    assert found.details["values"] == 3
    np.testing.assert_array_equal(found.per_unit, [1, np.nan, 0, 1])
    assert found.value == pytest.approx(2 / 3)
    data = tacit.datasets.census(100)
    sample = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    assert risk.IntervalDisclosure(attributes=["age"]).measure(data, sample).value == 0.5


def test_a_wholly_suppressed_column_discloses_nothing():
    blank = pl.Series([None, None], dtype=pl.Float64)
    assert measured([1.0, 2.0], blank).value == 0


def test_bad_input():
    data = tacit.datasets.census(30)
    with pytest.raises(DataError, match="no intervals of 'region'"):
        risk.IntervalDisclosure(attributes=["region"]).measure(data)
    with pytest.raises(ParameterError, match="widths"):
        risk.IntervalDisclosure(widths=[0])
    with pytest.raises(DataError, match="at least one width"):
        risk.IntervalDisclosure(widths=[]).measure(data)
    assert risk.IntervalDisclosure().objection(Microdata.of(pl.DataFrame({"c": ["x"]})))
