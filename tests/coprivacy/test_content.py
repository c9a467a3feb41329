"""Content passed on with a mark: honest receivers keep their own privacy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.coprivacy import coprivacy, general_coprivacy, multicast_game, oblivion_game
from tacit.core.errors import ParameterError

quarters = st.integers(0, 4).map(lambda q: q / 4)


@given(quarters, quarters, quarters)
def test_oblivion_is_generally_coprivate_exactly_when_tracing_outweighs_the_gain(t, gain, effort):
    game = oblivion_game(2, tracing=t, gain=gain, effort=effort)
    assert bool(general_coprivacy(game)) == (t >= gain + effort)


@pytest.mark.parametrize("tracing", [0.01, 0.5, 1.0])
def test_with_privacy_alone_oblivion_is_coprivate(tracing):
    """COP, Section 7: receivers must serve the source's privacy to preserve their own."""
    game = oblivion_game(tracing=tracing)
    assert coprivacy(game)
    chosen = game.only("privacy").utilities
    rest = ["mark and forward"] * 2
    kept = chosen(["ask receiver 1", "mark and forward", *rest])["receiver 1"]
    lost = chosen(["ask receiver 1", "forward without the mark", *rest])["receiver 1"]
    assert kept - lost == pytest.approx(tracing)


def test_multicast_spares_the_source_the_copies():
    game = multicast_game(5, sending=0.4)
    asks = game.utilities(["ask receiver 1", *["mark and forward"] * 5])["source"]
    direct = game.utilities(["ask the system", *["mark and forward"] * 5])["source"]
    assert asks - direct == pytest.approx(0.4 * 4)
    assert general_coprivacy(game)
    assert set(game.parts) == {"privacy", "security", "functionality"}


def test_no_tracing_no_cooperation():
    assert not general_coprivacy(multicast_game(tracing=0))


@pytest.mark.parametrize("wrong", [{"n_receivers": 0}, {"tracing": 1.5}, {"gain": -1},
                                   {"sending": np.inf}])  # fmt: skip
@pytest.mark.parametrize("make", [multicast_game, oblivion_game])
def test_wrong_input_is_refused(make, wrong):
    with pytest.raises(ParameterError):
        make(**wrong)
