"""Multiplicative noise: what Oganian's schemes promise, and her experiments."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.mask.multiplicative_noise import masked_moment, multiply, recovered_moment


def normal_sets(rng, n=10_000):
    sd = np.sqrt([5.0, 7.0, 10.0])
    covariance = np.outer(sd, sd) * (0.5 + 0.5 * np.eye(3))
    return rng.multivariate_normal([3.5, 3.5, 3.5], covariance, n)


def lognormal_sets(rng, n=10_000):
    """Means 2, variances 4, 9 and 16, correlation about 0.5."""
    variances = np.array([4.0, 9.0, 16.0])
    log_variance = np.log(1 + variances / 4)
    cross = np.log(1 + 0.5 * np.sqrt(np.outer(variances, variances)) / 4)
    np.fill_diagonal(cross, log_variance)
    z = rng.multivariate_normal(np.log(2) - log_variance / 2, cross, n)
    return np.exp(z)


def ratios(original, masked):
    return np.cov(masked.T) / np.cov(original.T)


@pytest.mark.parametrize("replicates", [10, pytest.param(500, marks=pytest.mark.slow)])
def test_normal_data_keep_their_covariances_within_two_percent(replicates):
    rng = np.random.default_rng(1)
    found, means = [], []
    for _ in range(replicates):
        x = normal_sets(rng)
        y = multiply(x, 0.15, "z-scores", rng)
        found.append(ratios(x, y))
        means.append(y.mean(axis=0) / x.mean(axis=0))
    inside = np.mean((np.array(found) > 0.97) & (np.array(found) < 1.03))
    assert inside > 0.97
    assert np.array(found).mean() == pytest.approx(1.0, abs=0.01)
    assert np.abs(np.array(means) - 1).max() < 0.03


@pytest.mark.parametrize("replicates", [10, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("scheme", "low", "high"), [("plain", 0.7, 1.3), ("z-scores", 0.8, 1.2)])
def test_lognormal_data_keep_their_covariances_on_average(replicates, scheme, low, high):
    rng = np.random.default_rng(2)
    found = []
    for _ in range(replicates):
        x = lognormal_sets(rng)
        y = multiply(x, 0.15, scheme, rng)
        assert (y >= 0).all()
        found.append(ratios(x, y))
    found = np.array(found)
    assert np.mean((found > low) & (found < high)) > 0.9  # "approximately", says the paper
    assert found.mean() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("replicates", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_two_zones_steady_the_covariances(replicates):
    rng = np.random.default_rng(3)
    method = mask.MultiplicativeNoise(columns=["a", "b", "c"], limits=(15,), levels=(0.15, 0.01))
    inside = []
    for seed in range(replicates):
        x = lognormal_sets(rng)
        table = pl.DataFrame(dict(zip("abc", x.T, strict=True)))
        y = tacit.Plan([method]).apply(table, seed=seed).frame.to_numpy()
        found = ratios(x, y)
        inside.append(np.mean((found > 0.95) & (found < 1.05)))
    assert np.mean(inside) > 0.95


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 2.0), st.sampled_from(["plain", "z-scores"]))
def test_nonnegative_stays_nonnegative_always(seed, k, scheme):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(size=(50, 2)) * (rng.random((50, 2)) < 0.8)
    x[0] = [1.0, 1.0]
    try:
        masked = multiply(x, k, scheme, rng)
    except DataError:
        assert scheme == "plain"
        return
    assert (masked >= 0).all()


def test_constraints_of_the_schema_hold_on_every_record():
    data = tacit.datasets.census(3000)
    before = data.broken_constraints()
    assert set(before.values()) == {0}
    for seed in range(3):
        release = tacit.Plan([mask.MultiplicativeNoise(columns=["income", "taxes"])]).apply(
            data, seed=seed
        )
        assert release.newly_broken == {}
        changed = (release.frame["income"] - data.frame["income"]).abs()
        assert (changed > 0).mean() > 0.4


def test_chains_keep_means_covariances_and_order():
    rng = np.random.default_rng(0)
    low = rng.lognormal(size=20_000)
    middle = low + rng.lognormal(size=20_000)
    high = middle + rng.lognormal(size=20_000)
    table = pl.DataFrame({"high": high, "low": low, "middle": middle})
    data = tacit.Microdata.of(table).with_constraints(
        tacit.AtLeast(larger="high", smaller="middle"),
        tacit.AtLeast(larger="middle", smaller="low"),
        tacit.AtLeast(larger="high", smaller="low"),
    )
    method = mask.MultiplicativeNoise(columns=["high", "low", "middle"], k=0.1)
    frame = tacit.Plan([method]).apply(data, seed=4).frame
    assert ((frame["high"] >= frame["middle"]) & (frame["middle"] >= frame["low"])).all()
    assert frame.to_numpy().mean(axis=0) == pytest.approx(table.to_numpy().mean(axis=0), rel=0.02)
    assert np.cov(frame.to_numpy().T) == pytest.approx(np.cov(table.to_numpy().T), rel=0.15)


def test_inequalities_that_are_no_chain_or_go_in_a_circle_are_refused():
    table = pl.DataFrame({"a": [3.0, 4.0], "b": [1.0, 2.0], "c": [1.0, 3.0]})
    data = tacit.Microdata.of(table)
    fork = data.with_constraints(
        tacit.AtLeast(larger="a", smaller="b"), tacit.AtLeast(larger="a", smaller="c")
    )
    plan = tacit.Plan([mask.MultiplicativeNoise(columns=["a", "b", "c"])])
    with pytest.raises(SchemaError, match="not ordered"):
        plan.apply(fork, seed=1)
    circle = data.with_constraints(
        tacit.AtLeast(larger="a", smaller="b"), tacit.AtLeast(larger="b", smaller="a")
    )
    with pytest.raises(SchemaError, match="circle"):
        plan.apply(circle, seed=1)


def test_data_along_the_axes_defeat_the_plain_scheme_and_not_the_other():
    rng = np.random.default_rng(0)
    along = rng.lognormal(size=400)
    x = np.zeros((400, 2))
    x[:200, 0], x[200:, 1] = along[:200], along[200:]
    x += 1e-4 * rng.random((400, 2))
    with pytest.raises(DataError, match=r"along the axes.*z-scores"):
        multiply(x, 0.5, "plain", rng)
    assert (multiply(x, 0.5, "z-scores", rng) >= 0).all()


def test_negative_values_are_shifted_and_refused_by_the_plain_scheme():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5000, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
    masked = multiply(x, 0.15, "z-scores", rng)
    assert np.cov(masked.T) == pytest.approx(np.cov(x.T), abs=0.08)
    with pytest.raises(DataError, match="z-scores"):
        multiply(x, 0.15, "plain", rng)


@pytest.mark.parametrize("powers", [[1, 0], [1, 1], [2, 1], [3, 0], [2, 2], [4, 0]])
def test_moments_follow_relation_26_by_simulation(powers):
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.gamma(4, 1, 200), rng.gamma(3, 1, 200)])
    x[:, 1] += 0.5 * x[:, 0]
    seen = np.mean(
        [
            np.prod(multiply(x, 0.15, "z-scores", rng) ** np.array(powers), axis=1).mean()
            for _ in range(4000)
        ]
    )
    assert masked_moment(x, powers, 0.15) == pytest.approx(seen, rel=0.01)


def test_a_user_recovers_third_moments_from_the_release():
    rng = np.random.default_rng(6)
    x = np.column_stack([rng.gamma(0.5, 1, 400_000), rng.gamma(3, 1, 400_000)])
    released = multiply(x, 0.5, "z-scores", rng)
    for powers in ([3, 0], [2, 1]):
        truth = np.prod(x ** np.array(powers), axis=1).mean()
        assert recovered_moment(released, powers, 0.5) == pytest.approx(truth, rel=0.03)
    truth, naive = (x[:, 0] ** 3).mean(), (released[:, 0] ** 3).mean()
    assert abs(recovered_moment(released, [3, 0], 0.5) - truth) < abs(naive - truth) / 3


def test_missing_values_stay_and_constant_columns_too():
    x = np.column_stack([np.arange(1.0, 101), np.full(100, 5.0)])
    x[3, 0] = np.nan
    masked = multiply(x, 0.2, "z-scores", np.random.default_rng(0))
    assert np.isnan(masked[3, 0])
    assert np.isnan(masked).sum() == 1
    assert (masked[:, 1] == 5.0).all()


def test_zones_need_one_level_more_than_limits():
    with pytest.raises(ParameterError, match="one level more"):
        mask.MultiplicativeNoise(columns=["a"], limits=(1,), levels=(0.1,))
    with pytest.raises(ParameterError, match="rising"):
        mask.MultiplicativeNoise(columns=["a"], limits=(2, 1), levels=(0.1, 0.1, 0.1))
    with pytest.raises(ParameterError, match="k"):
        mask.MultiplicativeNoise(columns=["a"], k=0)


def test_infinite_values_are_refused():
    before = pl.DataFrame({"x": [1.0, 2.0, float("inf")], "y": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match="'x' holds infinite values"):
        tacit.Plan([mask.MultiplicativeNoise(columns=["y", "x"])]).apply(before, seed=1)


def test_a_column_is_blanked_where_the_one_below_it_is_missing():
    table = pl.DataFrame({"x": [9.0, 8.0, 7.0, 9.5, 8.5], "y": [None, 1.0, 2.0, 3.0, 2.5]})
    data = tacit.Microdata.of(table).with_constraints(tacit.AtLeast(larger="x", smaller="y"))
    frame = tacit.Plan([mask.MultiplicativeNoise(columns=["x", "y"])]).apply(data, seed=1).frame
    assert frame["x"].is_null().to_list() == [True, False, False, False, False]


@pytest.mark.parametrize("scheme", ["plain", "z-scores"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_that_varies_only_on_incomplete_records_is_masked_too(scheme, weighted):
    """Attack: look for a released value that equals the original one."""
    rng = np.random.default_rng(4)
    x, y = rng.lognormal(size=60), np.full(60, 7.0)
    x[:20], y[:20] = np.nan, rng.lognormal(size=20) + 1
    table = pl.DataFrame({"x": x, "y": y, "w": rng.uniform(1, 3, 60)}, nan_to_null=True)
    data = tacit.Microdata.of(table).with_roles(weight="w" if weighted else None)
    method = mask.MultiplicativeNoise(columns=["x", "y"], scheme=scheme)
    after = tacit.Plan([method]).apply(data, seed=1).frame
    assert after["x"].null_count() == 20
    for name in ("x", "y"):
        assert (after[name] != table[name]).all()
        assert (after[name].drop_nulls() > 0).all()
    assert after["y"][20:].n_unique() > 1
