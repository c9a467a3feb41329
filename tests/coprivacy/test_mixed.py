"""Mixed equilibria: textbook games, nashpy as a second opinion, brute force on what is found."""

import itertools
import warnings

import nashpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Game
from tacit.coprivacy._lemke_howson import equilibrium_from
from tacit.coprivacy.mixed import expected_payoffs, largest_gain
from tacit.core.errors import ParameterError

PENNIES = Game([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
SEXES = Game([[[3, 0], [0, 2]], [[2, 0], [0, 3]]])


def test_matching_pennies_has_one_equilibrium_half_and_half():
    (only,) = PENNIES.mixed_equilibria()
    assert only.probabilities["P1"] == pytest.approx({"1": 0.5, "2": 0.5})
    assert only.payoffs == pytest.approx({"P1": 0, "P2": 0})
    assert not only.is_pure


def test_battle_of_the_sexes_has_three():
    """By hand: the mixed one is (3/5, 2/5) and (2/5, 3/5), worth 6/5 to both."""
    found = SEXES.mixed_equilibria()
    assert found.is_complete
    mixed = [e for e in found if not e.is_pure]
    assert len(found) == 3
    assert mixed[0].probability({"P1": "1", "P2": "1"}) == pytest.approx(6 / 25)
    assert mixed[0].payoffs == pytest.approx({"P1": 1.2, "P2": 1.2})
    assert "P1: 1 0.6, 2 0.4" in str(found)


def test_example_2_has_no_more_than_its_pure_corner_points():
    game = Game([[[0, 1], [0, 0.5]], [[0, 0], [1, 0.5]]])
    found = game.mixed_equilibria()
    assert len(found) == 3
    assert all(e.is_pure for e in found)


def test_three_players_who_must_differ():
    """Three players, two rooms; whoever is alone wins 1. Mixed half and half by symmetry."""
    rooms = np.indices((2, 2, 2))
    alone = np.stack([(rooms == rooms[i]).sum(axis=0) == 1 for i in range(3)]).astype(float)
    found = Game(alone).mixed_equilibria()
    assert not found.is_complete
    half = [e for e in found if all(q == pytest.approx({"1": 0.5, "2": 0.5})
            for q in e.probabilities.values())]  # fmt: skip
    assert len(half) == 1
    assert half[0].payoffs["P1"] == pytest.approx(0.25)


def test_one_player_mixes_over_nothing():
    (only,) = Game([[1.0, 3.0, 2.0]]).mixed_equilibria()
    assert only.probabilities == {"P1": {"1": 0.0, "2": 1.0, "3": 0.0}}


def test_constant_payoffs_work():
    assert len(Game(np.zeros((2, 2, 2))).mixed_equilibria()) == 4


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ParameterError, match="auto, all or some"):
        PENNIES.mixed_equilibria("most")
    with pytest.raises(ParameterError, match="two players only"):
        Game(np.zeros((3, 2, 2, 2))).mixed_equilibria("all")
    with pytest.raises(ParameterError, match="too many pairs"):
        Game(np.zeros((2, 15, 15))).mixed_equilibria("all")
    with pytest.raises(ParameterError, match="too many combinations"):
        Game(np.random.default_rng(1).random((4, 4, 4, 4, 4))).mixed_equilibria()


def test_large_two_player_games_end():
    """nashpy's own Lemke-Howson does not come back from games of this size."""
    game = Game(np.random.default_rng(1).random((2, 40, 40)))
    found = game.mixed_equilibria()
    assert found.method == "Lemke-Howson"
    assert not found.is_complete
    assert max(e.largest_gain for e in found) < 1e-9


# By hand: whatever P2 does, P1 has the same; P2 plays 2 where P1 plays 1 at least as often as 2.
TIES = Game([[[1, 0], [1, 0], [1, 0]], [[0, 1], [1, 0], [0, 0]]])


def test_the_corner_points_of_a_continuum_are_all_there():
    found = {
        tuple(round(q, 6) for own in e.probabilities.values() for q in own.values())
        for e in TIES.mixed_equilibria()
    }
    pure = {(1, 0, 0, 0, 1), (0, 1, 0, 1, 0), (0, 0, 1, 1, 0), (0, 0, 1, 0, 1)}
    assert found == pure | {(0.5, 0.5, 0, 1, 0), (0.5, 0.5, 0, 0, 1)}


def _corner_points(matrix):
    """Corners of {x >= 0, matrix x <= 1} but zero, and which inequalities bind, one by one."""
    size = matrix.shape[1]
    rows, limits = np.vstack([-np.eye(size), matrix]), np.r_[np.zeros(size), np.ones(len(matrix))]
    for chosen in itertools.combinations(range(len(rows)), size):
        part = rows[list(chosen)]
        if abs(np.linalg.det(part)) < 1e-9:
            continue
        x = np.linalg.solve(part, limits[list(chosen)])
        if (rows @ x <= limits + 1e-9).all() and x.sum() > 1e-9:
            yield x / x.sum(), np.abs(rows @ x - limits) < 1e-9


@settings(max_examples=25)
@given(st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_all_corner_equilibria_by_brute_force(numbers):
    """Payoffs of three values only, so that ties are the rule."""
    a, b = np.array(numbers, float).reshape(2, 3, 2)
    game = Game([a, b])
    found = [
        np.concatenate([list(q.values()) for q in e.probabilities.values()])
        for e in game.mixed_equilibria()
    ]
    for x, binds_x in _corner_points(b.T + 1):
        for y, binds_y in _corner_points(a + 1):
            if (binds_x | np.roll(binds_y, 3)).all():
                assert min(np.abs(np.r_[x, y] - other).max() for other in found) < 1e-6


payoffs = st.lists(st.integers(-4, 4), min_size=18, max_size=18)


def _best_deviation(game, equilibrium):
    """The most any player gains by a pure strategy, by summing over all outcomes."""
    chances = [np.array(list(q.values())) for q in equilibrium.probabilities.values()]
    gains = []
    for player, own in enumerate(chances):
        worth = np.zeros(len(own))
        for profile in np.ndindex(*game.sizes):
            p = np.prod([c[a] for i, (c, a) in enumerate(zip(chances, profile, strict=True))
                         if i != player])  # fmt: skip
            worth[profile[player]] += p * game.payoffs[(player, *profile)]
        gains.append(worth.max() - worth @ own)
    return max(gains)


@settings(max_examples=40)
@given(payoffs)
def test_no_profitable_deviation_two_players(numbers):
    game = Game(np.array(numbers, float).reshape(2, 3, 3))
    found = game.mixed_equilibria()
    assert len(found) >= 1
    for equilibrium in found:
        assert sum(map(sum, (q.values() for q in equilibrium.probabilities.values()))) == (
            pytest.approx(2)
        )
        assert _best_deviation(game, equilibrium) < 1e-5


@settings(max_examples=25)
@given(st.lists(st.integers(-4, 4), min_size=24, max_size=24))
def test_no_profitable_deviation_three_players(numbers):
    game = Game(np.array(numbers, float).reshape(3, 2, 2, 2))
    for equilibrium in game.mixed_equilibria():
        assert _best_deviation(game, equilibrium) < 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_nashpy_on_games_without_ties(seed):
    """nashpy's vertex enumeration, which we do not use, finds the same equilibria."""
    a, b = np.random.default_rng(seed).random((2, 4, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [np.concatenate(e) for e in nashpy.Game(a, b).vertex_enumeration()]
    found = [
        np.concatenate([list(q.values()) for q in e.probabilities.values()])
        for e in Game([a, b]).mixed_equilibria()
    ]
    assert len(found) == len(expected)
    for equilibrium in expected:
        assert min(np.abs(equilibrium - other).max() for other in found) < 1e-6


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=24, max_size=24), st.integers(0, 6))
def test_paths_end_at_equilibria_even_with_ties(numbers, label):
    scaled = np.array(numbers, float).reshape(2, 4, 3) / 3
    pair = equilibrium_from(scaled, label)
    assert pair is not None
    assert largest_gain(scaled, pair) < 1e-9


def test_expected_payoffs_by_hand():
    worth = expected_payoffs(SEXES.payoffs, (np.array([1.0, 0.0]), np.array([0.25, 0.75])), 0)
    assert worth.tolist() == [0.75, 1.5]
