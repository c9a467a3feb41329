"""Pure equilibria and dominance: Example 2 of COP, and brute force on random games."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Game, prisoners_dilemma

EXAMPLE_2 = Game(
    {("H", "H"): (0, 0), ("H", "P"): (1, 0), ("P", "H"): (0, 1), ("P", "P"): (0.5, 0.5)}
)


@st.composite
def games(draw, most_players=4):
    """Small games with many ties."""
    n = draw(st.integers(1, most_players))
    sizes = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    cells = n * int(np.prod(sizes))
    values = draw(st.lists(st.integers(-3, 3), min_size=cells, max_size=cells))
    return Game(np.array(values, dtype=float).reshape(n, *sizes))


# -- COP, Example 2 ----------------------------------------------------------------------------


def test_example_2_has_three_equilibria_and_one_in_dominant_strategies():
    found = EXAMPLE_2.equilibria()
    assert found.profiles == [("H", "H"), ("H", "P"), ("P", "H")]
    assert [e.profile for e in found.dominant] == [{"P1": "H", "P2": "H"}]
    assert found.dominant[0].dominance == "weak"
    assert found.strict == ()


def test_example_2_says_that_publishing_would_give_both_more():
    best = EXAMPLE_2.equilibria()[0]
    assert best.better_for_all == {"P1": "P", "P2": "P"}
    assert "(P, P) would give everybody more" in best.note
    assert EXAMPLE_2.equilibria()[1].better_for_all is None


def test_example_2_dominant_strategies():
    assert EXAMPLE_2.dominant_strategies() == {"P1": {"H": "weak"}, "P2": {"H": "weak"}}


def test_strict_dominance_makes_the_only_equilibrium():
    """Section 2 of COP: a strictly dominant solution is the unique Nash equilibrium."""
    found = prisoners_dilemma().game().equilibria()
    assert found.profiles == [("betray", "betray")]
    assert found[0].is_strict
    assert found[0].dominance == "strict"


def test_printing():
    text = str(EXAMPLE_2.equilibria())
    assert text.splitlines()[1].startswith("H   H   0, 0     weak, by (weakly) dominant")
    assert str(Game([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]).equilibria()) == (
        "no equilibrium in pure strategies"
    )


def test_where_nobody_cares_everything_is_an_equilibrium_and_very_weakly_dominant():
    found = Game(np.zeros((3, 4, 4, 4))).equilibria()
    assert len(found) == 64
    assert {e.dominance for e in found} == {"very weak"}
    assert "and 14 more" in str(found)


def test_one_player_with_one_strategy():
    (only,) = Game([[5.0]]).equilibria()
    assert only.is_strict
    assert only.dominance == "strict"


def test_rounding_errors_do_not_break_ties():
    close = Game([[[0.1 + 0.2, 0.0], [0.3, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert ("1", "1") in close.equilibria().profiles
    assert ("2", "1") in close.equilibria().profiles


def test_a_large_game_is_solved_at_once():
    """15 players: 32 768 outcomes, all equilibria found without a loop over outcomes."""
    game = Game(np.random.default_rng(1).integers(0, 5, (15, *(2,) * 15)).astype(float))
    started = time.process_time()
    found = game.equilibria()
    assert time.process_time() - started < 5
    assert len(found) == len(found.profiles) > 0


# -- properties --------------------------------------------------------------------------------


def _payoff(game, player, profile):
    return game.payoffs[(player, *profile)]


def _is_equilibrium(game, profile):
    for player, size in enumerate(game.sizes):
        for other in range(size):
            moved = (*profile[:player], other, *profile[player + 1 :])
            if _payoff(game, player, moved) > _payoff(game, player, profile):
                return False
    return True


@given(games())
def test_returned_are_all_equilibria_and_nothing_else(game):
    every = itertools.product(*map(range, game.sizes))
    expected = [game.profile(p) for p in every if _is_equilibrium(game, p)]
    assert [e.profile for e in game.equilibria()] == expected


@given(games(most_players=3))
def test_strictness_by_brute_force(game):
    for found in game.equilibria():
        assert found.is_strict == all(move.gain < 0 for move in game.moves(found.profile))


@given(games(most_players=3))
def test_dominance_by_brute_force(game):
    for player, size in enumerate(game.sizes):
        levels = game.dominant_strategies()[game.players[player]]
        others = [p for p in itertools.product(*map(range, game.sizes)) if p[player] == 0]
        for a in range(size):
            leads = [
                [
                    _payoff(game, player, (*p[:player], a, *p[player + 1 :]))
                    - _payoff(game, player, (*p[:player], b, *p[player + 1 :]))
                    for p in others
                ]
                for b in range(size)
                if b != a
            ]
            expected = None
            if all(lead >= 0 for row in leads for lead in row):
                expected = "very weak"
                if all(max(row) > 0 for row in leads):
                    expected = "weak"
                if all(min(row) > 0 for row in leads):
                    expected = "strict"
            assert levels.get(game.strategies[player][a]) == expected


@given(games())
def test_a_dominant_solution_is_an_equilibrium(game):
    """Section 2 of COP: clearly, a dominant strategy solution is a Nash equilibrium."""
    dominant = game.dominant_strategies()
    expected = set(itertools.product(*(dominant[p] for p in game.players)))
    assert {tuple(e.profile.values()) for e in game.equilibria().dominant} == expected


@settings(max_examples=30)
@given(games(), st.floats(0.01, 100), st.floats(-100, 100))
def test_equilibria_do_not_depend_on_units(game, scale, shift):
    moved = Game(game.payoffs * scale + shift)
    assert moved.equilibria().profiles == game.equilibria().profiles


@pytest.mark.parametrize("part", [slice(0, 1), slice(1, None)])
def test_slices(part):
    found = EXAMPLE_2.equilibria()
    assert found[part].profiles == found.profiles[part]
    assert [e["profile"] for e in found.as_dict()] == [e.profile for e in found]
