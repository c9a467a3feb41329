"""Networks and the scores of COP, Section 5."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.coprivacy import (
    Network,
    privacy_functionality,
    privacy_functionality_2,
    privacy_risk,
    publication_game,
    random_network,
)
from tacit.core.errors import DataError, ParameterError

PATH = Network.of([[0, 1], [1, 2], [2, 3]])


def test_links_are_read_once_in_any_direction():
    network = Network.of([[1, 0], [0, 1], [2, 1]], n_users=5)
    assert network.links.tolist() == [[0, 1], [1, 2]]
    assert network.degrees.tolist() == [1, 2, 1, 0, 0]
    assert Network.of([], n_users=2).links.shape == (0, 2)


@pytest.mark.parametrize("wrong", [[[0, 0]], [[0, 9]], [[-1, 1]], [[0.5, 1]], [[0, 1, 2]]])
def test_wrong_links_are_refused(wrong):
    with pytest.raises(DataError):
        Network.of(wrong, n_users=3)


def test_pairs_by_distance():
    one, two, three = (m.toarray() for m in PATH.within(3))
    assert np.argwhere(np.triu(one)).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert np.argwhere(np.triu(two)).tolist() == [[0, 2], [1, 3]]
    assert np.argwhere(np.triu(three)).tolist() == [[0, 3]]
    with pytest.raises(ParameterError):
        PATH.within(0)


@given(st.integers(2, 12), st.integers(0, 10))
def test_distances_by_another_way(n, seed):
    from scipy.sparse.csgraph import shortest_path

    network = random_network(n, degree=min(2.0, n - 1), seed=seed)
    classes = network.within(3)
    distance = shortest_path(classes[0], unweighted=True, directed=False)
    for k, apart in enumerate(classes, start=1):
        assert np.array_equal(apart.toarray() > 0, distance == k)


def test_scores_by_hand():
    """Two attributes, two distances, four users in a row."""
    sensitivity = np.array([[1.0, 2.0], [0.5, 3.0]])
    visibility = np.zeros((4, 2, 2))
    visibility[0] = [[1, 1], [0, 0]]  # user 0 shows attribute 0 up to two links away
    visibility[1] = [[0, 0], [1, 0]]  # user 1 shows attribute 1 to direct contacts
    assert privacy_risk(visibility, sensitivity).tolist() == [3.0, 0.5, 0.0, 0.0]
    # 0 sees 1's 0.5; 1 sees 0's beta_11 = 1; 2 sees 1's 0.5 and 0's beta_12 = 2; 3 nothing.
    expected = [0.5 / 4, 1 / 1.5, 2.5, 0.0]
    assert privacy_functionality(PATH, visibility, sensitivity).tolist() == pytest.approx(expected)


def test_prf2_is_example_2():
    for profile in np.ndindex(2, 2):
        scores = privacy_functionality_2(np.array(profile)[:, None], [1.0])
        game = publication_game(2).game()
        assert scores.tolist() == [float(game.payoffs[(i, *profile)]) for i in range(2)]


@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 1000))
def test_prf2_by_its_sums(n, n_attributes, seed):
    rng = np.random.default_rng(seed)
    public, beta = rng.integers(0, 2, (n, n_attributes)), rng.random(n_attributes)
    for j in range(n):
        top = sum(beta[i] * public[o, i] for o in range(n) for i in range(n_attributes) if o != j)
        bottom = 1 + sum(beta[i] * public[j, i] for i in range(n_attributes))
        assert privacy_functionality_2(public, beta)[j] == pytest.approx(top / bottom)


def test_hiding_never_lowers_a_score():
    """The reason for the collapse: what one discloses only adds to the denominator."""
    rng = np.random.default_rng(1)
    network, visibility = random_network(30, degree=4, seed=1), rng.random((30, 3, 1))
    before = privacy_functionality(network, visibility, np.ones((3, 1)))
    visibility[7] = 0
    assert privacy_functionality(network, visibility, np.ones((3, 1)))[7] >= before[7]


@pytest.mark.parametrize(
    ("visibility", "sensitivity"),
    [
        (np.full((2, 1, 1), 2.0), np.ones((1, 1))),
        (np.full((2, 1, 1), np.nan), np.ones((1, 1))),
        (np.zeros((2, 1, 1)), -np.ones((1, 1))),
        (np.zeros((2, 1, 1)), np.ones((2, 1))),
        (np.zeros(2), np.ones(1)),
        (np.array([[[0.0, 1.0]]]), np.ones((1, 2))),
    ],
)
def test_wrong_scores_are_refused(visibility, sensitivity):
    with pytest.raises(DataError):
        privacy_risk(visibility, sensitivity)


def test_other_wrong_input_is_refused():
    with pytest.raises(DataError, match="one row per user"):
        privacy_functionality(PATH, np.zeros((2, 1)), [1.0])
    with pytest.raises(DataError, match="public"):
        privacy_functionality_2([[0.5]], [1.0])
    with pytest.raises(ParameterError):
        random_network(1)
    with pytest.raises(ParameterError):
        random_network(5, degree=9)


def test_a_random_network_has_the_degree_asked_for():
    assert random_network(2_000, degree=7, seed=1).degrees.mean() == pytest.approx(7)
    assert random_network(6, degree=5, seed=1).links.shape == (15, 2)
