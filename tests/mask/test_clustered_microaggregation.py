"""Microaggregation inside clusters: groups never cross clusters, and clusters are real ones."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError
from tacit.mask._grouped import standardised
from tacit.mask.clustered_microaggregation import clusters_of
from tacit.mask.mdav import mdav_groups

CENTRES = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]])


def islands(n=200, seed=1):
    rng = np.random.default_rng(seed)
    island = rng.integers(0, len(CENTRES), n)
    return CENTRES[island] + rng.standard_normal((n, 2)), island


def apply(values, **parameters):
    table = pl.DataFrame({f"x{j}": column for j, column in enumerate(values.T)})
    method = mask.ClusteredMicroaggregation(columns=table.columns, **parameters)
    return tacit.Plan([method]).apply(table, seed=1).frame


@pytest.mark.parametrize("seed", range(5))
def test_islands_are_found(seed):
    values, island = islands(seed=seed)
    found = clusters_of(values, 12, 3, np.random.default_rng(seed))
    # with clusters to spare none spans two islands
    assert all(len(set(island[found == c])) == 1 for c in set(found))


def test_no_group_mixes_islands_and_all_reach_k():
    values, island = islands()
    release = apply(values, k=3, clusters=12).with_columns(island=pl.Series(island))
    groups = release.group_by("x0", "x1").agg(pl.len(), pl.col("island").n_unique())
    assert groups["len"].min() >= 3
    assert groups["island"].max() == 1


def test_one_cluster_is_plain_mdav():
    values, _ = islands(100)
    release = apply(values, k=3, clusters=1).to_numpy()
    groups = mdav_groups(values, 3)
    for g in range(groups.max() + 1):
        assert np.allclose(release[groups == g], values[groups == g].mean(axis=0))


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 50), st.integers(1, 3)),
        elements=st.integers(-3, 3).map(float),
    ),
    n_clusters=st.integers(1, 60),
    smallest=st.integers(2, 5),
)
def test_no_cluster_is_smaller_than_k(values, n_clusters, smallest):
    found = clusters_of(standardised(values), n_clusters, smallest, np.random.default_rng(1))
    sizes = np.bincount(found)
    assert len(sizes) <= n_clusters
    assert sizes.min() >= min(smallest, len(values))


def test_means_are_kept_and_the_same_seed_gives_the_same_release():
    values, _ = islands()
    first, second = apply(values, k=5), apply(values, k=5)
    assert first.equals(second)
    assert np.allclose(first.mean().row(0), values.mean(axis=0))


def test_large_files_are_clustered_from_a_sample():
    values, _ = islands(50_000)
    found = clusters_of(values, 4, 3, np.random.default_rng(4))
    assert len(found) == len(values)
    assert set(found) <= set(range(4))


@pytest.mark.parametrize("bad", [{"clusters": 0}, {"k": 1}, {"outliers": 0.5}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        mask.ClusteredMicroaggregation(columns=["x"], **bad)


def test_too_few_records_are_refused():
    with pytest.raises(DataError, match="k = 3"):
        apply(np.zeros((2, 2)), k=3)
