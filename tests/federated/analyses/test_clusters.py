"""k-means: equal to the pooled one from the same first centres."""

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

from tacit.core.errors import ParameterError
from tacit.federated import StoppedError, simulate


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [8, 0], [0, 8]])
    return [
        pl.DataFrame(centres[rng.integers(0, 3, 90)] + rng.normal(size=(90, 2)), schema=["a", "b"])
        for _ in range(3)
    ]


def test_the_result_is_that_of_scikit_learn(groups):
    first = [[1.0, 1.0], [5.0, 1.0], [1.0, 5.0]]
    answer = simulate(groups, "clusters", variables=["a", "b"], k=3, centres=first)
    pooled = pl.concat(groups).to_numpy()
    fit = KMeans(3, init=np.array(first), n_init=1, tol=0).fit(pooled)
    assert np.allclose(answer["centres"], fit.cluster_centers_, rtol=1e-10)
    assert answer["counts"] == np.bincount(fit.labels_).tolist()
    assert answer["sum_of_squares"] == pytest.approx(fit.inertia_, rel=1e-10)
    assert answer["converged"]


def test_attack_steps_on_the_way_are_not_released(groups):
    """The totals of two steps differ by the records that moved, which may be one."""
    given = {"variables": ["a", "b"], "k": 3, "centres": [[1.0, 1.0], [5.0, 1.0], [1.0, 5.0]]}
    with pytest.raises(StoppedError, match="still change"):
        simulate(groups, "clusters", **given, max_iterations=1)
    assert simulate(groups, "clusters", **given, max_iterations=50)["converged"]


def test_drawn_centres_are_the_same_for_the_same_seed(groups):
    one, other = (simulate(groups, "clusters", variables=["a", "b"], k=2, seed=4) for _ in "ab")
    assert one["centres"] == other["centres"]


def test_a_group_of_one_record_is_refused(groups):
    lonely = [groups[0].with_columns(a=pl.when(pl.int_range(90) == 0).then(1e6).otherwise("a"))]
    first = [[0.0, 0.0], [1e6, 0.0]]
    with pytest.raises(StoppedError, match="a pooled group has a cell"):
        simulate([*lonely, *groups[1:]], "clusters", variables=["a", "b"], k=2, centres=first)


@pytest.mark.parametrize("given_", [{"k": 2, "centres": [[1.0, 1.0]]}, {"variables": []}], ids=str)
def test_bad_requests_are_refused(groups, given_):
    with pytest.raises(ParameterError):
        simulate(groups, "clusters", **{"variables": ["a", "b"], **given_})


def test_more_groups_than_records_are_refused(groups):
    with pytest.raises(StoppedError, match="no more records than groups"):
        simulate(groups, "clusters", variables=["a"], k=90)
