"""Announcements of cars: general coprivacy, and how privacy brings announcements."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.coprivacy import announcement_game, coprivacy, general_coprivacy
from tacit.core.errors import ParameterError


@given(st.integers(2, 5), st.data())
def test_announcing_is_an_equilibrium_exactly_when_it_is_worth_its_exposure(n, data):
    threshold = data.draw(st.integers(1, n))
    value, exposure = data.draw(st.integers(0, 8)) / 4, data.draw(st.integers(0, 8)) / 4
    game = announcement_game(n, threshold=threshold, value=value, exposure=exposure)
    assert bool(general_coprivacy(game)) == (value >= exposure / threshold)


def test_privacy_alone_keeps_cars_silent():
    game = announcement_game(4)
    assert not coprivacy(game)
    assert game.only("privacy").equilibria().profiles == [("silent",) * 4]


def test_every_group_of_the_right_size_is_an_equilibrium():
    found = announcement_game(5, threshold=3).equilibria().profiles
    sizes = [profile.count("announce") for profile in found]
    assert sizes.count(3) == comb(5, 3)
    assert set(sizes) == {0, 3}


def test_the_more_privacy_is_allowed_the_more_announcements():
    """Identified with probability 1 - a + a/3: worth 1 as soon as that is at most one half."""
    announced = [bool(general_coprivacy(announcement_game(4, anonymity=a)))
                 for a in (0, 0.5, 0.74, 0.76, 1)]  # fmt: skip
    assert announced == [False, False, False, True, True]


def test_the_more_cars_announce_the_more_private_each_is():
    privacy = announcement_game(4).only("privacy").payoffs[0]
    by_count = [privacy[1, 0, 0, 0], privacy[1, 1, 0, 0], privacy[1, 1, 1, 0], privacy[1, 1, 1, 1]]
    assert (np.diff(by_count) > 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_cars": 1},
        {"threshold": 0},
        {"threshold": 9},
        {"value": -1},
        {"exposure": np.nan},
        {"anonymity": 2},
        {"n_cars": 60},
    ],
)
def test_wrong_input_is_refused(wrong):
    with pytest.raises(ParameterError):
        announcement_game(**({"n_cars": 4} | wrong))
