"""Games that people put together."""

import pytest

from tacit.app.games import EXAMPLE, LARGEST_TEXT, solved
from tacit.core.errors import ParameterError, TacitError

# Example 2 of COP: who publishes gains nothing, so publishing together is no equilibrium.
PUBLISHING = """
[[outcome]]
play = ["hide", "hide"]
payoffs = [0, 0]
[[outcome]]
play = ["hide", "publish"]
payoffs = [1, 0]
[[outcome]]
play = ["publish", "hide"]
payoffs = [0, 1]
[[outcome]]
play = ["publish", "publish"]
payoffs = [0.5, 0.5]
[[together]]
P1 = "publish"
P2 = "publish"
"""


def test_helping_is_an_equilibrium_in_one_game_and_not_in_the_other():
    found = solved(EXAMPLE)
    assert all(verdict["holds"] for verdict in found["coprivacy"])
    assert ["relay", "relay"] in [list(e["profile"].values()) for e in found["equilibria"]]
    found = solved(PUBLISHING)
    assert not any(verdict["holds"] for verdict in found["coprivacy"])
    assert "would gain 0.5" in str(found["coprivacy"])


def test_what_is_too_large_or_no_game_is_refused():
    with pytest.raises(ParameterError, match="too long"):
        solved("#" * (LARGEST_TEXT + 1))
    numbers = range(17)
    outcomes = "".join(
        f'[[outcome]]\nplay = ["{i}", "{j}"]\npayoffs = [0, 0]\n' for i in numbers for j in numbers
    )
    with pytest.raises(ParameterError, match="256 outcomes"):
        solved(outcomes)
    for text in ("", "= ?", "[[outcome]]\nplay = 1"):
        with pytest.raises(TacitError):
            solved(text)
