"""Games of many equal players: the same as the game written out, at any number."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.coprivacy import CountingGame
from tacit.core.errors import DataError


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.integers(-2, 2), min_size=2 * n,
                                                     max_size=2 * n)))  # fmt: skip
def test_the_same_equilibria_as_the_game_written_out(numbers):
    counting = CountingGame(np.array(numbers, float).reshape(2, -1))
    written = counting.game().equilibria()
    profiles = Counter(profile.count("yes") for profile in written.profiles)
    found = counting.equilibria()
    assert {e.count: e.n_profiles for e in found} == dict(profiles)
    strict = {e.count for e in found if e.is_strict}
    assert strict == {tuple(e.profile.values()).count("yes") for e in written.strict}
    # Uniform profiles only: where nobody cares, mixtures of very weak strategies dominate too.
    for equilibrium in found:
        if equilibrium.count in (0, counting.n_players):
            same = [e for e in written if set(e.profile.values())
                    == {("yes" if equilibrium.count else "no")}]  # fmt: skip
            assert same[0].dominance == equilibrium.dominance


def test_payoffs_and_welfare_by_hand():
    game = CountingGame(np.array([[0.0, 1, 2], [0, 0.5, 1]]))
    assert game.welfare.tolist() == [0, 2, 3, 3]  # k publish: (3-k) k + k (k-1)/2
    assert game.equilibria()[0].payoffs == (0.0, None)
    assert [e.count for e in game] == [0, 1]


def test_a_million_players():
    n = 1_000_000
    game = CountingGame(np.stack([np.arange(n), np.arange(n) - 1.0]))
    assert [(e.count, e.dominance) for e in game.equilibria()] == [(0, "strict")]


@pytest.mark.parametrize("wrong", [np.zeros((3, 2)), np.zeros(4), np.zeros((2, 0)),
                                   np.full((2, 2), np.nan)])  # fmt: skip
def test_wrong_payoffs_are_refused(wrong):
    with pytest.raises(DataError):
        CountingGame(wrong)
