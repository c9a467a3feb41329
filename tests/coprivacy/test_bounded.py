"""Mixed equilibria within bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Game, bounded_equilibria, prisoners_dilemma
from tacit.core.errors import ParameterError

DILEMMA = prisoners_dilemma().game()


def test_without_bounds_nothing_changes():
    (only,) = bounded_equilibria(DILEMMA, {})
    assert only.probabilities["P1"] == {"betray": 1.0, "silent": 0.0}


def test_the_dominant_strategy_is_played_as_far_as_allowed():
    (only,) = bounded_equilibria(DILEMMA, {"P1": {"betray": (0, 0.2)}, "P2": {"silent": (0.1, 1)}})
    assert only.probabilities["P1"] == pytest.approx({"betray": 0.2, "silent": 0.8})
    assert only.probabilities["P2"] == pytest.approx({"betray": 0.9, "silent": 0.1})


@pytest.mark.parametrize(
    "bounds",
    [
        {"P9": {"betray": (0, 1)}},
        {"P1": {"confess": (0, 1)}},
        {"P1": {"betray": (0.5, 0.2)}},
        {"P1": {"betray": (0, 2)}},
        {"P1": {"betray": (0, 0.2), "silent": (0, 0.2)}},
    ],
)
def test_wrong_bounds_are_refused(bounds):
    with pytest.raises(ParameterError):
        bounded_equilibria(DILEMMA, bounds)


def test_too_many_strategies_are_refused():
    with pytest.raises(ParameterError, match="12 strategies"):
        bounded_equilibria(Game(np.zeros((2, 13, 2))), {"P1": {"1": (0, 0.5)}})


@settings(max_examples=30)
@given(st.lists(st.integers(-4, 4), min_size=12, max_size=12), st.floats(0, 0.3), st.floats(0.4, 1))
def test_nobody_gains_by_another_mixture_within_the_bounds(numbers, low, high):
    game = Game(np.array(numbers, float).reshape(2, 3, 2))
    found = bounded_equilibria(game, {"P1": {"1": (low, high), "2": (0, high)}})
    rng = np.random.default_rng(0)
    for equilibrium in found:
        mine, theirs = (np.array(list(q.values())) for q in equilibrium.probabilities.values())
        assert low - 1e-9 <= mine[0] <= high + 1e-9
        assert mine[1] <= high + 1e-9
        assert mine.sum() == pytest.approx(1)
        worth, other = game.payoffs[0] @ theirs, mine @ game.payoffs[1]
        assert other @ theirs >= other.max() - 1e-5
        drawn = rng.dirichlet(np.ones(3), 200)
        allowed = drawn[(drawn[:, 0] >= low) & (drawn[:, 0] <= high) & (drawn[:, 1] <= high)]
        if len(allowed):
            assert worth @ mine >= (allowed @ worth).max() - 1e-5
