"""Probabilistic information loss."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError
from tacit.utility._sampling_errors import Moments, quantile_positions

COLUMNS = ["age", "hours", "income", "taxes"]


def loss(before, after, **parameters):
    return utility.ProbabilisticLoss(**parameters).measure(before, after)


def test_identity_loses_nothing_and_a_constant_everything():
    data = tacit.datasets.census(500)
    same = loss(data, data, columns=COLUMNS)
    assert same.value == 0.0
    assert same.details["worst"] == []
    gone = data.with_arrays({c: np.full(500, 1e6) for c in COLUMNS})
    assert loss(data, gone, columns=COLUMNS).value > 0.9


def test_order_of_the_records_does_not_matter():
    data = tacit.datasets.census(400)
    shuffled = data.take(np.random.default_rng(0).permutation(400))
    assert loss(data, shuffled, columns=COLUMNS).value == pytest.approx(0.0, abs=1e-6)


def test_errors_are_those_of_repeated_samples():
    """Draw many samples: the spread of each statistic is the error given for it."""
    rng = np.random.default_rng(1)
    n, runs = 400, 1500
    found = []
    for _ in range(runs):
        x = rng.gamma(3.0, size=n)
        y = 0.5 * x + rng.normal(size=n)
        found.append(Moments.of(np.column_stack([x, y]), np.ones(n)))
    for value, error, at in [
        ("means", "mean_errors", (0,)),
        ("covariances", "covariance_errors", (0, 0)),
        ("covariances", "covariance_errors", (0, 1)),
        ("correlations", "correlation_errors", (0, 1)),
    ]:
        spread = np.std([getattr(m, value)[at] for m in found])
        given_error = np.mean([getattr(m, error)[at] for m in found])
        assert given_error == pytest.approx(spread, rel=0.1), (value, at)


def test_weights_equal_repeated_records():
    rng = np.random.default_rng(2)
    values, times = rng.normal(size=(50, 2)), rng.integers(1, 4, 50)
    weighted = Moments.of(values, times.astype(float))
    repeated = Moments.of(np.repeat(values, times, axis=0), np.ones(times.sum()))
    assert weighted.means == pytest.approx(repeated.means)
    assert weighted.correlations == pytest.approx(repeated.correlations)
    assert np.all(weighted.mean_errors > repeated.mean_errors)


def test_quantiles_with_ties_and_weights():
    column = np.array([1.0, 1.0, 1.0, 5.0, np.nan])
    points, shares = quantile_positions(column, np.array([1.0, 1.0, 1.0, 3.0, 9.0]))
    assert points[0] == 1.0
    assert points[-1] == 5.0
    assert shares[0] == pytest.approx(0.5)
    assert shares[-1] == 1.0


def test_grows_with_noise_on_average():
    data = tacit.datasets.census(800)
    means = []
    for level in (0.05, 0.2, 0.8):
        plan = tacit.Plan([mask.UncorrelatedNoise(columns=["income", "age"], level=level)])
        found = [loss(data, plan.apply(data, seed=s), columns=["age", "income"]).value
                 for s in range(5)]  # fmt: skip
        means.append(np.mean(found))
    assert means[0] < means[1] < means[2]


def test_worst_statistics_are_named():
    data = tacit.datasets.census(500)
    doubled = data.with_arrays({"income": 2 * data.numeric(["income"])[:, 0]})
    worst = loss(data, doubled, columns=["age", "income"]).details["worst"]
    assert worst
    assert all("income" in row["what"] for row in worst)


@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e12, 1e12) | st.none(), min_size=2, max_size=30),
    st.randoms(use_true_random=False),
)
def test_bounded_for_any_numbers(values, random):
    after = list(values)
    random.shuffle(after)
    frames = [pl.DataFrame({"a": v, "b": [1.0] * len(v)}, schema={"a": pl.Float64, "b": pl.Float64})
              for v in (values, [None if v is None else 2 * v for v in after])]  # fmt: skip
    value = loss(*frames).value
    assert np.isnan(value) or 0 <= value <= 1


def test_a_recoded_column_is_reported():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Recode(column="age", width=10)]).apply(data, seed=1)
    assert "age" in loss(data, release).warnings[0]


def test_infinite_numbers_are_refused():
    frame = pl.DataFrame({"a": [1.0, np.inf, 2.0]})
    with pytest.raises(DataError, match="infinite values in 'a'"):
        loss(frame, frame)
