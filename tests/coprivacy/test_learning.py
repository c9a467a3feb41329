"""Regret matching: players reach an epsilon-correlated equilibrium by themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Game, prisoners_dilemma, publication_game, regret_matching
from tacit.core.errors import ParameterError


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([(2, 3, 3), (3, 2, 2, 2), (2, 1, 4)]))
def test_epsilon_becomes_small(seed, shape):
    game = Game(np.random.default_rng(seed).random(shape))
    assert regret_matching(game, rounds=100_000, seed=seed).epsilon < 0.05


def test_epsilon_falls_with_the_rounds():
    game = Game([[[0, -1, 1], [1, 0, -1], [-1, 1, 0]], [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]])
    few, many = (regret_matching(game, rounds=n, seed=1).epsilon for n in (100, 1_000_000))
    assert many < few / 5


def test_a_strictly_dominant_strategy_is_learnt():
    learnt = regret_matching(prisoners_dilemma().game(), seed=1)
    assert learnt.probability({"P1": "betray", "P2": "betray"}) > 0.99


def test_learning_alone_does_not_save_the_network():
    """COP, Section 5: independent play ends without mutual publishing."""
    game = publication_game(2).game()
    learnt = regret_matching(game, seed=1)
    assert learnt.probability({"P1": "publish", "P2": "publish"}) < 0.01


def test_repeatable_and_a_distribution():
    game = publication_game(3).game()
    a, b = regret_matching(game, rounds=500, seed=2), regret_matching(game, rounds=500, seed=2)
    assert np.array_equal(a.distribution, b.distribution)
    assert a.distribution.sum() == pytest.approx(1)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True])
def test_wrong_rounds_are_refused(rounds):
    with pytest.raises(ParameterError):
        regret_matching(prisoners_dilemma().game(), rounds=rounds)
