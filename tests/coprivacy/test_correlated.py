"""Correlated equilibria: hand calculations, incentive constraints, Nash equilibria inside."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Game, certain, publication_game
from tacit.coprivacy.correlated import check_distribution
from tacit.core.errors import DataError, ParameterError

CHICKEN = Game([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], strategies=["CD", "CD"])
EXAMPLE_2 = publication_game(2).game()
BOTH = {"P1": "publish", "P2": "publish"}


def test_the_best_advice_in_chicken():
    """By hand: (C, C) 1/2, (C, D) and (D, C) 1/4 each, worth 10.5 together."""
    found = CHICKEN.correlated_equilibrium()
    assert found.advice == pytest.approx({("C", "C"): 0.5, ("C", "D"): 0.25, ("D", "C"): 0.25})
    assert sum(found.payoffs.values()) == pytest.approx(10.5)


def test_equal_shares():
    found = CHICKEN.correlated_equilibrium("equal")
    assert found.payoffs == pytest.approx({"P1": 5.25, "P2": 5.25})


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.25, 0.5, 3.0])
def test_publishing_in_example_2_needs_epsilon(epsilon):
    """By hand: leaving (P, P) gains 1/2, so its probability is at most 2 epsilon."""
    found = EXAMPLE_2.correlated_equilibrium(BOTH, epsilon=epsilon)
    assert found.probability(BOTH) == pytest.approx(min(2 * epsilon, 1), abs=1e-7)
    assert found.epsilon <= epsilon + 1e-7


@pytest.mark.parametrize("n", [3, 5])
def test_publishing_by_all_needs_more_epsilon_the_more_users_there_are(n):
    """By hand: leaving gains (n - 1)/2, so the probability is at most 2 epsilon / (n - 1)."""
    game = publication_game(n).game()
    choice = dict.fromkeys(game.players, "publish")
    found = game.correlated_equilibrium(choice, epsilon=0.1)
    assert found.probability(choice) == pytest.approx(0.2 / (n - 1), abs=1e-7)


def test_certain_advice_says_how_well_it_holds():
    assert certain(EXAMPLE_2, ["publish", "publish"]).epsilon == pytest.approx(0.5)
    assert certain(EXAMPLE_2, ["hide", "hide"]).epsilon == 0


def test_wrong_questions_are_refused():
    for epsilon in (-1, np.nan, np.inf):
        with pytest.raises(ParameterError, match="epsilon"):
            CHICKEN.correlated_equilibrium(epsilon=epsilon)
    with pytest.raises(ParameterError, match="objective"):
        CHICKEN.correlated_equilibrium("fame")
    with pytest.raises(ParameterError, match="no player"):
        CHICKEN.correlated_equilibrium({"P9": "C"})
    with pytest.raises(ParameterError, match="too many outcomes"):
        Game(np.zeros((18, *(1,) * 9, *(4,) * 9))).correlated_equilibrium()


def test_no_distribution_is_refused():
    assert check_distribution(CHICKEN, [[1, 1], [1, 1]]).sum() == pytest.approx(1)
    for wrong in ([[1, 1]], [[-1, 1], [1, 1]], [[np.nan, 1], [1, 1]], np.zeros((2, 2))):
        with pytest.raises(DataError):
            check_distribution(CHICKEN, wrong)


def test_one_player_is_advised_the_best():
    found = Game([[1.0, 3.0]]).correlated_equilibrium()
    assert found.advice == {("2",): pytest.approx(1.0)}


def test_printing_and_plain_data():
    assert "(C, C)  0.5" in str(CHICKEN.correlated_equilibrium())
    assert CHICKEN.correlated_equilibrium().as_dict()["epsilon"] == pytest.approx(0, abs=1e-9)


# -- properties --------------------------------------------------------------------------------


def _gain_of_rule(game, p, player, rule):
    """What a player expects to gain by playing rule[a] whenever a is advised."""
    gain = 0.0
    for profile in np.ndindex(*game.sizes):
        moved = (*profile[:player], rule[profile[player]], *profile[player + 1 :])
        gain += p[profile] * (game.payoffs[(player, *moved)] - game.payoffs[(player, *profile)])
    return gain


@st.composite
def small_games(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    cells = len(sizes) * int(np.prod(sizes))
    numbers = draw(st.lists(st.integers(-5, 5), min_size=cells, max_size=cells))
    return Game(np.array(numbers, float).reshape(len(sizes), *sizes))


@settings(max_examples=40)
@given(small_games(), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from(["welfare", "equal"]))
def test_no_rule_for_departing_gains_more_than_epsilon(game, epsilon, objective):
    found = game.correlated_equilibrium(objective, epsilon=epsilon)
    assert found.distribution.min() >= 0
    assert found.distribution.sum() == pytest.approx(1)
    for player, size in enumerate(game.sizes):
        for rule in np.ndindex(*(size,) * size):
            gain = _gain_of_rule(game, found.distribution, player, rule)
            assert gain <= epsilon + 1e-6
            assert gain <= found.incentives[game.players[player]] + 1e-9


@settings(max_examples=40)
@given(small_games())
def test_advice_is_no_worse_than_any_pure_equilibrium(game):
    best = sum(game.correlated_equilibrium().payoffs.values())
    for pure in game.equilibria():
        assert certain(game, pure.profile).epsilon <= 1e-9
        assert best >= sum(pure.payoffs.values()) - 1e-6


@settings(max_examples=20)
@given(small_games())
def test_mixed_equilibria_are_correlated_equilibria(game):
    for found in game.mixed_equilibria():
        chances = [np.array(list(q.values())) for q in found.probabilities.values()]
        product = chances[0]
        for other in chances[1:]:
            product = np.multiply.outer(product, other)
        for player, size in enumerate(game.sizes):
            for rule in np.ndindex(*(size,) * size):
                assert _gain_of_rule(game, product, player, rule) < 1e-5
