"""The tree against brute force and scikit-learn, and draws from its leaves."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.predictors import Coding, Records
from tacit.mask.synthesis.synthesisers import cart
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target


def view_of(**columns):
    frame = pl.DataFrame(columns)
    data = tacit.Microdata.of(frame)
    coded = [Column.of(frame[c], data.schema[c]) for c in frame.columns]
    return Records.of({c.name: c.values for c in coded}, frame.height).view(
        [Coding.of(c) for c in coded]
    )


def sum_of_squares(tree, y):
    total = 0.0
    for node in np.flatnonzero(tree.nodes[0] < 0):
        part = tree.values[tree.first[node] : tree.last[node]]
        total += ((part - part.mean()) ** 2).sum()
    return total


@pytest.mark.parametrize("leaf", [5, 40])
def test_a_regression_tree_explains_as_much_as_that_of_scikit_learn(leaf):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + 0.1 * rng.normal(size=400)
    tree = cart.fit(
        Target(y, 0), view_of(a=x[:, 0], b=x[:, 1], c=x[:, 2]),
        Settings(leaf=leaf, evidence=0.0), rng,
    )  # fmt: skip
    other = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=1).fit(x, y)
    expected = ((y - other.predict(x)) ** 2).sum()
    assert sum_of_squares(tree, y) == pytest.approx(expected, rel=1e-3)


@given(seed=st.integers(0, 10_000))
def test_the_first_cut_of_a_category_is_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 6, 60)
    y = rng.normal(size=60) + level % 3
    tree = cart.fit(
        Target(y, 0), view_of(g=[f"l{i}" for i in level]), Settings(leaf=1, evidence=0.0), rng
    )
    if tree.nodes[0][0] < 0:
        return
    child = tree.nodes[2][0]
    n_left = tree.last[child] - tree.first[child]
    best = np.inf
    for size in range(1, 6):
        for chosen in combinations(range(6), size):
            left = np.isin(level, chosen)
            if 0 < left.sum() < 60:
                best = min(best, sum(((y[s] - y[s].mean()) ** 2).sum() for s in (left, ~left)))
    parts = [tree.values[:n_left], tree.values[n_left:]]
    assert sum(((p - p.mean()) ** 2).sum() for p in parts) == pytest.approx(best)


def test_classes_that_depend_on_groups_of_many_levels_are_told_apart():
    rng = np.random.default_rng(2)
    level = rng.integers(0, 500, 5000)
    classes = level % 4
    view = view_of(g=[f"l{i:03d}" for i in level])
    tree = cart.fit(Target(classes, 4), view, Settings(), rng)
    drawn = tree.draw(view, Bounds.none(5000), rng)
    assert (drawn == classes).mean() > 0.95


def test_noise_is_not_followed():
    rng = np.random.default_rng(3)
    view = view_of(**{f"x{i}": rng.normal(size=2000) for i in range(5)})
    tree = cart.fit(Target(rng.normal(size=2000), 0), view, Settings(), rng)
    greedy = cart.fit(Target(rng.normal(size=2000), 0), view, Settings(evidence=0.0), rng)
    assert (tree.nodes[0] < 0).sum() < 0.2 * (greedy.nodes[0] < 0).sum()


def test_missing_values_are_a_branch():
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    x[:100] = np.nan
    y = np.where(np.isnan(x), 50.0, 0.0) + rng.normal(size=400)
    view = view_of(x=pl.Series(x, nan_to_null=True))
    drawn = cart.fit(Target(y, 0), view, Settings(), rng).draw(view, Bounds.none(400), rng)
    assert (drawn[:100] > 40).all()
    assert (drawn[100:] < 10).all()


@given(seed=st.integers(0, 1000), leaf=st.integers(1, 20))
def test_draws_stay_inside_the_bounds_and_the_range(seed, leaf):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 100))
    view = view_of(x=x)
    tree = cart.fit(Target(y, 0), view, Settings(leaf=leaf), rng)
    low = rng.normal(size=100)
    bounds = Bounds(low, low + 0.5)
    drawn = tree.draw(view, bounds, rng)
    assert (drawn >= low - 1e-12).all()
    assert (drawn <= low + 0.5 + 1e-12).all()
    free = tree.draw(view, Bounds.none(100), rng)
    assert free.min() >= y.min()
    assert free.max() <= y.max()


def test_numbers_of_few_records_are_never_copied_and_common_ones_are():
    rng = np.random.default_rng(6)
    y = np.concatenate([rng.normal(size=300), np.full(100, 7.0)])
    view = view_of(x=rng.normal(size=400))
    drawn = cart.fit(Target(y, 0), view, Settings(), rng).draw(view, Bounds.none(400), rng)
    assert not set(drawn[drawn != 7.0]) & set(y)
    assert (drawn == 7.0).mean() == pytest.approx(0.25, abs=0.1)
    rough = cart.fit(Target(y, 0), view, Settings(smooth=False), rng)
    assert set(rough.draw(view, Bounds.none(400), rng)) <= set(y)


def test_no_predictors_and_constant_targets_give_one_leaf():
    rng = np.random.default_rng(7)
    nothing = view_of(x=[1.0] * 20).without_predictors()
    assert len(cart.fit(Target(np.arange(20.0), 0), nothing, Settings(), rng).nodes[0]) == 1
    constant = cart.fit(Target(np.ones(20), 0), view_of(x=np.arange(20.0)), Settings(), rng)
    assert len(constant.nodes[0]) == 1
