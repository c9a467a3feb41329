"""The worked games: what the literature says about each."""

import numpy as np
import pytest

from tacit.coprivacy import pollution_game, prisoners_dilemma, publication_game, relay_game
from tacit.core.errors import ParameterError


def test_the_dilemma_is_one():
    game = prisoners_dilemma()
    assert game.dominance() == ("strict", None)
    assert game.social_optimum == 2
    with pytest.raises(ParameterError, match="temptation > reward"):
        prisoners_dilemma(reward=5)


@pytest.mark.parametrize("n", [2, 3, 4, 10, 100_000])
def test_publication_collapses_for_any_number_of_users(n):
    """COP, Section 5: nobody offers any information; to hide is weakly dominant."""
    game = publication_game(n)
    assert game.dominance() == ("weak", None)
    found = {e.count: e for e in game.equilibria()}
    assert found[0].dominance == "weak"
    # One user who publishes while all others hide loses nothing: the weak inequality of Section 2.
    assert set(found) == {0, 1}
    assert not any(e.is_strict for e in found.values())
    assert game.payoffs[1, n - 1] > game.payoffs[0, 0]  # all publish: better for everybody


def test_two_users_are_example_2():
    assert publication_game(2).game().payoffs.tolist() == [
        [[0, 1], [0, 0.5]],
        [[0, 0], [1, 0.5]],
    ]


@pytest.mark.parametrize("n", [4, 7, 1000])
def test_the_pollution_game_of_tardos_and_vazirani(n):
    """Only equilibrium: nobody controls, cost n each; all controlling would cost 3 each."""
    game = pollution_game(n)
    (only,) = game.equilibria()
    assert (only.count, only.dominance) == (0, "strict")
    assert only.payoffs[0] == -n
    assert game.payoffs[1, n - 1] == -3
    assert game.social_optimum == n


def test_the_pollution_game_written_out():
    game = pollution_game(4).game()
    assert game.utilities(["control", "pollute", "pollute", "control"]) == {
        "P1": -5, "P2": -2, "P3": -2, "P4": -5,
    }  # fmt: skip


def test_relaying_by_all_is_best_and_stable_but_somebody_must_start():
    """COP, Example 1: each new user adds to everybody's anonymity."""
    game = relay_game(8, cost=0.5)
    assert {e.count: e.is_strict for e in game.equilibria()} == {0: True, 8: True}
    assert game.payoffs[1, 7] == pytest.approx(2.5)  # log2(8) - 0.5
    assert np.all(np.diff(game.payoffs[1]) > 0)
    assert relay_game(8).dominance() == (None, "weak")


@pytest.mark.parametrize("make", [pollution_game, publication_game, relay_game])
@pytest.mark.parametrize("n", [1, 0, -3, 2.5, True, "3"])
def test_too_few_players_are_refused(make, n):
    with pytest.raises(ParameterError, match="at least two"):
        make(n)


def test_wrong_numbers_are_refused():
    with pytest.raises(ParameterError):
        pollution_game(3, control=-1)
    with pytest.raises(ParameterError):
        publication_game(3, sensitivity=0)
    with pytest.raises(ParameterError):
        relay_game(3, cost=np.nan)
