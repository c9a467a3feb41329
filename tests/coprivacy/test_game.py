"""Games: what is accepted, what is refused, what a profile is worth."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.coprivacy import Game
from tacit.core.errors import DataError, ParameterError

EXAMPLE_2 = {("H", "H"): (0, 0), ("H", "P"): (1, 0), ("P", "H"): (0, 1), ("P", "P"): (0.5, 0.5)}


def test_the_same_game_from_matrices_and_from_outcomes():
    by_name = Game(EXAMPLE_2)
    by_matrix = Game([[[0, 1], [0, 0.5]], [[0, 0], [1, 0.5]]], strategies=["HP", "HP"])
    assert np.array_equal(by_name.payoffs, by_matrix.payoffs)
    assert by_name.strategies == by_matrix.strategies == (("H", "P"), ("H", "P"))
    assert by_name.utilities(("H", "P")) == {"P1": 1.0, "P2": 0.0}


def test_the_input_is_neither_changed_nor_shared():
    payoffs = np.zeros((2, 2, 2))
    game = Game(payoffs)
    payoffs[0, 0, 0] = 9
    assert game.utilities(("1", "1")) == {"P1": 0.0, "P2": 0.0}
    with pytest.raises(ValueError, match="read-only"):
        game.payoffs[0, 0, 0] = 9


def test_names_in_any_script_and_order():
    game = Game(EXAMPLE_2, players=["ana", "Žofie 🙂"], strategies=["PH", "PH"])
    assert game.utilities({"Žofie 🙂": "H", "ana": "P"}) == {"ana": 0.0, "Žofie 🙂": 1.0}
    assert game.index(["P", "H"]) == (0, 1)


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ([1, 2, 3], "one axis per player"),
        (np.zeros((2, 2)), "one axis per player"),
        (np.zeros((3, 2, 2)), "one axis per player"),
        (np.zeros((2, 0, 2)), "at least one strategy"),
        ([[[0, 1], [0]], [[0, 0], [1, 0.5]]], "must be numbers"),
        ([[["a", 1]]], "must be numbers"),
        ({}, "at least one outcome"),
        ({("a", "b"): (1, 2), ("a",): (1,)}, "one strategy per player"),
        ({("a", "b"): (1, 2), ("c", "d"): (1, 2)}, "has no payoffs"),
        ({("a", "b"): (1,)}, "one payoff per player"),
        ({("a",): "x"}, "must be numbers"),
        (np.full((1, 2), np.nan), "every outcome needs a payoff"),
        (np.full((1, 2), np.inf), "every outcome needs a payoff"),
    ],
)
def test_what_is_no_game_is_refused(payoffs, message):
    with pytest.raises(DataError, match=message):
        Game(payoffs)


def test_a_missing_payoff_is_named():
    with pytest.raises(DataError, match=r"nan for P2 at \(1, 2\)"):
        Game([[[0, 1]], [[0, np.nan]]])


def test_a_huge_game_is_refused_before_it_is_laid_out():
    with pytest.raises(ParameterError, match="too large"):
        Game({("a",) * 40: (0,) * 40}, strategies=[["a", "b"]] * 40)


@pytest.mark.parametrize(
    "options",
    [
        {"players": ["a"]},
        {"players": ["a", "a"]},
        {"strategies": ["HP"]},
        {"strategies": ["HP", "HH"]},
        {"strategies": ["HP", "HPQ"]},
    ],
)
def test_wrong_names_are_refused(options):
    with pytest.raises(DataError):
        Game(np.zeros((2, 2, 2)), **options)


def test_unknown_names_suggest_the_nearest():
    game = Game(EXAMPLE_2, players=["alice", "bob"])
    with pytest.raises(ParameterError, match="did you mean 'alice'"):
        game.player_index("alise")
    with pytest.raises(ParameterError, match="no strategy 'X'"):
        game.index({"alice": "X", "bob": "H"})
    with pytest.raises(ParameterError, match="every player"):
        game.index({"alice": "H"})
    with pytest.raises(ParameterError, match="one strategy per player"):
        game.index(["H"])
    with pytest.raises(ParameterError):
        Game(EXAMPLE_2, together=[{"P1": "help"}])
    with pytest.raises(ParameterError, match="at least one choice"):
        Game(EXAMPLE_2, together=[{}])


def test_parts_add_up_with_their_weights():
    privacy, functionality = np.zeros((2, 2, 2)), np.arange(8.0).reshape(2, 2, 2)
    parts = {"privacy": privacy - 1, "functionality": functionality}
    game = Game.of_parts(parts, weights={"functionality": 2})
    assert np.array_equal(game.payoffs, 2 * functionality - 1)
    assert np.array_equal(game.only("privacy").payoffs, privacy - 1)
    with pytest.raises(ParameterError, match="no part 'security'"):
        game.only("security")


def test_parts_that_are_games_keep_their_names():
    base = Game(EXAMPLE_2, players=["a", "b"], together=[{"a": "P", "b": "P"}])
    game = Game.of_parts({"privacy": base, "functionality": np.zeros((2, 2, 2))})
    assert (game.players, game.strategies, game.together) == (
        base.players, base.strategies, base.together,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "weights"),
    [({}, None), ({"a": np.zeros((1, 2))}, {"b": 1}), ({"a": np.zeros((1, 2))}, {"a": -1}),
     ({"a": np.zeros((1, 2))}, {"a": np.nan})],
)  # fmt: skip
def test_wrong_parts_are_refused(parts, weights):
    with pytest.raises(ParameterError):
        Game.of_parts(parts, weights=weights)


def test_parts_of_different_games_are_refused():
    with pytest.raises(DataError, match="same players and strategies"):
        Game.of_parts({"a": np.zeros((2, 2, 2)), "b": np.zeros((2, 2, 3))})


@given(st.data())
def test_moves_are_differences_of_payoffs(data):
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    cells = len(sizes) * int(np.prod(sizes))
    numbers = data.draw(st.lists(st.integers(-5, 5), min_size=cells, max_size=cells))
    game = Game(np.array(numbers, float).reshape(len(sizes), *sizes))
    index = tuple(data.draw(st.integers(0, size - 1)) for size in sizes)
    moves = game.moves(game.profile(index))
    assert len(moves) == sum(size - 1 for size in sizes)
    assert all(a.gain >= b.gain for a, b in itertools.pairwise(moves))
    for move in moves:
        player = game.player_index(move.player)
        new = list(index)
        new[player] = game.strategies[player].index(move.to)
        assert move.gain == game.payoffs[(player, *new)] - game.payoffs[(player, *index)]
