"""The game of Definition 1."""

import numpy as np
import pytest

from tacit.coprivacy import request_game
from tacit.core.errors import ParameterError


def test_payoffs_stand_where_definition_1_puts_them():
    game = request_game(-1, {"P2": (3, 0.5), "P3": (2, -1)}, {"P3": (-2, 0.25)})
    assert game.sizes == (3, 2, 2)
    assert game.strategies[0] == ("ask the system", "ask P2", "ask P3")
    for second in ("help", "reject"):
        for third in ("help", "reject"):
            direct = game.utilities(["ask the system", second, third])
            assert direct == {"P1": -1, "P2": 0, "P3": 0}
            asked = game.utilities(["ask P2", second, third])
            expected = {"P1": 3, "P2": 0.5} if second == "help" else {"P1": -1, "P2": 0}
            assert asked == expected | {"P3": 0}
            asked = game.utilities(["ask P3", second, third])
            expected = {"P1": 2, "P3": -1} if third == "help" else {"P1": -2, "P3": 0.25}
            assert asked == {"P2": 0} | expected


def test_helping_is_asking_and_being_helped():
    game = request_game(0, {"Q": (1, 1)}, requester="me", answers=("yes", "no"))
    assert game.together == ({"me": "ask Q", "Q": "yes"},)


def test_a_dozen_peers_fit_and_forty_do_not():
    assert request_game(0, {f"P{i}": (1, 1) for i in range(2, 13)}).payoffs.shape[0] == 12
    with pytest.raises(ParameterError, match="too large"):
        request_game(0, {f"P{i}": (1, 1) for i in range(2, 42)})


@pytest.mark.parametrize(
    "wrong",
    [
        {"helped": {}},
        {"helped": {"P1": (1, 1)}},
        {"helped": {"P2": (1,)}},
        {"helped": {"P2": ("x", 1)}},
        {"helped": {"P2": (1, 1)}, "refused": {"P9": (1, 1)}},
    ],
)
def test_wrong_input_is_refused(wrong):
    with pytest.raises(ParameterError):
        request_game(0, **wrong)


def test_missing_payoffs_are_refused():
    with pytest.raises(ValueError, match="every outcome needs a payoff"):
        request_game(np.nan, {"P2": (1, 1)})
