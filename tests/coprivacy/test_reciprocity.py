"""The epsilon of tit-for-tat and reputation."""

import itertools

import numpy as np
import pytest

from tacit.coprivacy import (
    Game,
    certain,
    prisoners_dilemma,
    publication_game,
    reciprocity_incentive,
)
from tacit.core.errors import DataError, ParameterError

EXAMPLE_2 = publication_game(2).game()


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.5, 0.9, 0.99])
def test_tit_for_tat_in_example_2_by_hand(discount):
    """Taking turns gives 1, 0, 1, 0, ...: 1/(1 + discount) per round instead of 1/2."""
    found = reciprocity_incentive(EXAMPLE_2, discount=discount)
    assert found.keeping == 0.5
    assert found.cheating == pytest.approx(1 / (1 + discount), abs=1e-9)
    assert found.epsilon == pytest.approx((1 - discount) / (2 * (1 + discount)), abs=1e-9)


def test_epsilon_falls_far_below_that_of_the_game_played_once():
    once = certain(EXAMPLE_2, ["publish", "publish"]).epsilon
    assert once == pytest.approx(0.5)
    assert reciprocity_incentive(EXAMPLE_2, discount=0.99).epsilon < once / 100


def test_two_good_rounds_leave_no_gain_from_the_golden_ratio_on():
    """1, 0, 0 against 1/2 each round: no gain once discount + discount^2 >= 1, that is 0.618."""
    assert reciprocity_incentive(EXAMPLE_2, discount=0.62, memory=2).epsilon == 0
    assert reciprocity_incentive(EXAMPLE_2, discount=0.61, memory=2).epsilon > 0


def test_a_lenient_reputation_invites_hiding_half_of_the_time():
    found = reciprocity_incentive(EXAMPLE_2, discount=0.999, memory=4, threshold=0.5)
    assert found.helps_share == pytest.approx(0.5)
    assert found.epsilon == pytest.approx(0.25, abs=1e-3)  # half of the rounds 1, half 1/2


@pytest.mark.parametrize("memory", [1, 2, 3])
@pytest.mark.parametrize("make", [publication_game, None])
def test_no_plan_of_many_rounds_does_better(memory, make):
    """Brute force: all plans for 10 rounds against others who repay."""
    game = prisoners_dilemma().game() if make is None else make(2).game()
    discount, rounds = 0.7, 10
    found = reciprocity_incentive(game, discount=discount, memory=memory)
    best = -np.inf
    for plan in itertools.product((0, 1), repeat=rounds):
        past, worth = [1] * memory, 0.0
        for t, act in enumerate(plan):
            worth += (1 - discount) * discount**t * game.payoffs[0, act, int(all(past[-memory:]))]
            past.append(act)
        best = max(best, worth)
    rest = discount**rounds * game.payoffs[0].max()
    assert best - 1e-9 <= found.cheating + discount**rounds * abs(game.payoffs[0].min())
    assert found.cheating <= best + rest + 1e-9


@pytest.mark.parametrize(
    ("options", "error"),
    [({"discount": 1.0}, ParameterError), ({"discount": -0.1}, ParameterError),
     ({"threshold": 2}, ParameterError), ({"memory": 0}, ParameterError),
     ({"memory": 40}, ParameterError), ({"game": Game(np.zeros((2, 2, 3)))}, DataError)],
)  # fmt: skip
def test_wrong_input_is_refused(options, error):
    with pytest.raises(error):
        reciprocity_incentive(**({"game": EXAMPLE_2, "discount": 0.5} | options))
