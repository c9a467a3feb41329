"""Disclosure in a network: selfish play collapses, reciprocity does not."""

import numpy as np
import pytest

from tacit.coprivacy import Network, random_network, simulate_disclosure
from tacit.core.errors import DataError, ParameterError

BETA = np.array([0.2, 0.5, 1.0])


@pytest.fixture(scope="module")
def network():
    return random_network(1_000, degree=8, seed=1)


def test_independent_play_collapses(network):
    result = simulate_disclosure(network, BETA, "independent", seed=1)
    assert result.disclosed[0] == pytest.approx(1)
    assert (np.diff(result.disclosed) <= 0).all()
    assert result.has_collapsed
    assert result.mean_utility[0] > 1
    assert (result.utility[-1] == 0).all()


def test_two_users_go_from_one_corner_of_example_2_to_the_other():
    result = simulate_disclosure(Network.of([[0, 1]]), [1.0], "independent", rounds=50, seed=1)
    assert result.utility[0].tolist() == [0.5, 0.5]
    assert result.utility[-1].tolist() == [0, 0]
    assert {tuple(u) for u in result.utility.tolist()} <= {(0.5, 0.5), (1, 0), (0, 1), (0, 0)}


@pytest.mark.parametrize("protocol", ["tit-for-tat", "reputation"])
def test_reciprocity_reaches_full_disclosure(network, protocol):
    result = simulate_disclosure(network, BETA, protocol, seed=1)
    assert result.disclosed[-1] == pytest.approx(1)
    total = BETA.sum()
    assert result.utility[-1] == pytest.approx(network.degrees * total / (1 + total))
    assert not result.has_collapsed


@pytest.mark.parametrize("protocol", ["tit-for-tat", "reputation"])
def test_free_riders_end_with_nothing(network, protocol):
    result = simulate_disclosure(network, BETA, protocol, free_riders=0.3, seed=1)
    assert result.is_free_rider.sum() == 300
    assert result.free_rider_utility[-1] == 0
    assert result.mean_utility[-1] > 1
    # Users who answer in kind give nothing to free riders in the end.
    assert result.disclosed[-1] == pytest.approx(0.49, abs=0.05)


def test_tit_for_tat_risks_the_least_sensitive_attribute_only(network):
    result = simulate_disclosure(network, BETA, "tit-for-tat", free_riders=0.5, seed=1)
    first = result.free_rider_utility[0]
    assert first <= 0.2 * network.degrees.max()
    assert result.free_rider_utility[1] == 0


def test_without_free_riders_there_is_no_mean():
    result = simulate_disclosure(Network.of([[0, 1]]), [1.0], "tit-for-tat", rounds=2)
    assert np.isnan(result.free_rider_utility).all()


@pytest.mark.parametrize(
    ("options", "error"),
    [({"protocol": "trust"}, ParameterError), ({"rounds": 0}, ParameterError),
     ({"memory": 0}, ParameterError), ({"free_riders": 1.0}, ParameterError),
     ({"sensitivity": []}, DataError), ({"sensitivity": [-1]}, DataError),
     ({"sensitivity": [np.nan]}, DataError), ({"network": Network.of([], 3)}, DataError)],
)  # fmt: skip
def test_wrong_input_is_refused(options, error):
    given = {"network": Network.of([[0, 1]]), "sensitivity": [1.0], "protocol": "tit-for-tat"}
    with pytest.raises(error):
        simulate_disclosure(**(given | options))
