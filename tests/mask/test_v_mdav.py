"""V-MDAV: sizes follow the data, never below k."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tacit
from tacit import mask
from tacit.core.errors import ParameterError
from tacit.mask.v_mdav import v_mdav_groups


def plain_v_mdav(X, k, gamma):
    """V-MDAV read straight from the paper, with the whole distance matrix."""
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    far = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    groups, free, group = np.full(len(X), -1), list(range(len(X))), 0
    while len(free) >= k:
        seed = max(free, key=lambda i: (far[i], -i))
        rest = sorted((i for i in free if i != seed), key=lambda i: D[seed, i])
        members = [seed, *rest[: k - 1]]
        free = [i for i in free if i not in members]
        while len(members) < 2 * k - 1 and len(free) > 1:
            nearest = min(free, key=lambda i: D[i, members].min())
            d_out = min(D[nearest, j] for j in free if j != nearest)
            if not D[nearest, members].min() < gamma * d_out:
                break
            members.append(nearest)
            free.remove(nearest)
        groups[members] = group
        group += 1
    centroids = [X[groups == g].mean(axis=0) for g in range(group)]
    for i in free:
        groups[i] = int(np.argmin([((X[i] - c) ** 2).sum() for c in centroids]))
    return groups


@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.1])
@pytest.mark.parametrize("k", [2, 4])
def test_groups_equal_a_plain_reading_of_the_paper(gamma, k):
    X = np.random.default_rng(k).standard_normal((157, 3))
    assert np.array_equal(v_mdav_groups(X, k, gamma), plain_v_mdav(X, k, gamma))


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 50), st.integers(1, 3)),
               elements=st.integers(-5, 5).map(float)),
    st.integers(2, 4),
    st.floats(0, 2),
)  # fmt: skip
def test_every_group_has_at_least_k_members(X, k, gamma):
    if len(X) >= k:
        groups = v_mdav_groups(X, k, gamma)
        assert groups.min() == 0
        assert np.bincount(groups).min() >= k


def test_a_breaker_finds_no_combination_of_fewer_than_k():
    data = tacit.datasets.census(400, missing=0.05)
    frame = tacit.Plan([mask.VMdav(columns=["income", "hours"], k=5)]).apply(data, seed=1).frame
    counts = frame.group_by("income", "hours").len()
    known = counts.filter(~pl.all_horizontal(pl.col("income", "hours").is_null()))
    assert known["len"].min() >= 5


def test_negative_gamma_is_named():
    with pytest.raises(ParameterError, match="gamma"):
        mask.VMdav(columns=["x"], gamma=-1)
