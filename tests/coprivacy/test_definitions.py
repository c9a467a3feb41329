"""Coprivacy by the definitions of COP, against brute force and hand calculation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coprivacy import (
    Game,
    coprivacy,
    correlated_coprivacy,
    delta_coprivacy,
    general_coprivacy,
    mixed_coprivacy,
    publication_game,
    relay_game,
    request_game,
)
from tacit.core.errors import DataError, ParameterError

EXAMPLE_2 = publication_game(2).game()
numbers = st.integers(-2, 2)
pairs = st.tuples(numbers, numbers)


# -- Definition 1 ------------------------------------------------------------------------------


@given(numbers, st.lists(pairs, min_size=1, max_size=3), st.data())
def test_definition_1_by_brute_force(direct, helped, data):
    """Some k such that asking k and helping is in a profile that nobody gains by leaving."""
    refused = data.draw(st.lists(pairs, min_size=len(helped), max_size=len(helped)))
    names = [f"P{k + 2}" for k in range(len(helped))]
    game = request_game(
        direct, dict(zip(names, helped, strict=True)), dict(zip(names, refused, strict=True))
    )
    expected = {}
    for k, name in enumerate(names):
        expected[name] = False
        for answers in itertools.product([True, False], repeat=len(names)):
            if not answers[k]:
                continue
            options = [direct] + [
                helped[j][0] if helps else refused[j][0] for j, helps in enumerate(answers)
            ]
            asks_well = helped[k][0] >= max(options)
            expected[name] |= asks_well and helped[k][1] >= refused[k][1]
    verdict = coprivacy(game)
    assert {list(c.together)[1]: c.holds for c in verdict.cases} == expected
    assert bool(verdict) == any(expected.values())


def test_whatever_the_others_do_is_more():
    """P3 would help P1 still more; only while P3 rejects is asking P2 best."""
    verdict = coprivacy(request_game(0, {"P2": (1, 1), "P3": (2, 1)}))
    second, third = verdict.cases
    assert (second.holds, second.whatever_others_do) == (True, False)
    assert (third.holds, third.whatever_others_do) == (True, True)


def test_the_reasons_say_who_gains_what():
    refuses = coprivacy(request_game(0, {"P2": (1, -0.5)}))
    assert not refuses
    assert "P2 plays 'help' for -0.5 and would gain 0.5 by 'reject'" in str(refuses)
    assert "Not an equilibrium: P2 would leave" in str(refuses)
    assert str(refuses).startswith("coprivacy: no")
    assert refuses.as_dict()["cases"][0]["together"] == {"P1": "ask P2", "P2": "help"}


def test_the_tor_like_game_is_coprivate_and_publishing_is_not():
    assert coprivacy(relay_game(4).game())
    assert not coprivacy(EXAMPLE_2)


def test_what_helping_is_must_be_said():
    with pytest.raises(ParameterError, match="what helping one another is"):
        coprivacy(Game(np.zeros((2, 2, 2))))
    with pytest.raises(ParameterError, match="no strategy 'x'"):
        coprivacy(EXAMPLE_2, [{"P1": "x"}])
    assert coprivacy(EXAMPLE_2, [{"P1": "hide", "P2": "hide"}])


# -- general coprivacy -------------------------------------------------------------------------


def test_functionality_can_make_helping_worth_while():
    privacy = request_game(0, {"P2": (1, -0.5)})
    reward = request_game(0, {"P2": (0, 0.75)})
    game = Game.of_parts({"privacy": privacy, "functionality": reward})
    assert not coprivacy(game)
    general = general_coprivacy(game)
    assert general
    assert "(privacy +0.5, functionality -0.75)" in str(general)
    weak = Game.of_parts({"privacy": privacy, "functionality": reward},
                         weights={"functionality": 0.5})  # fmt: skip
    assert not general_coprivacy(weak)


def test_a_game_without_privacy_cannot_be_asked_about_it():
    game = Game.of_parts({"functionality": request_game(0, {"P2": (1, 1)})})
    with pytest.raises(ParameterError, match="no part 'privacy'"):
        coprivacy(game)


# -- delta-coprivacy ---------------------------------------------------------------------------


GOOD, BAD = request_game(0, {"P2": (1, 1)}), request_game(0, {"P2": (1, -1)})


def test_delta_counts_games():
    sample = [GOOD] * 3 + [BAD]
    assert delta_coprivacy(sample, 0.75)
    assert not delta_coprivacy(sample, 0.76)
    verdict = delta_coprivacy(sample, 0.5)
    assert verdict.probability == 0.75
    assert verdict.interval == pytest.approx((0.1941, 0.9937), abs=1e-4)  # Clopper-Pearson, 3 of 4
    assert "3 of 4 games" in str(verdict)


def test_delta_with_weights_is_exact():
    verdict = delta_coprivacy([GOOD, BAD], 0.9, weights=[9, 1])
    assert verdict
    assert verdict.probability == pytest.approx(0.9)
    assert verdict.interval is None


def test_delta_at_its_ends():
    assert delta_coprivacy([BAD], 0).interval == pytest.approx((0, 0.975))
    assert delta_coprivacy([GOOD], 1).interval == pytest.approx((0.025, 1))


def test_general_and_mixed_delta():
    parts = Game.of_parts({"privacy": BAD, "functionality": request_game(0, {"P2": (0, 2)})})
    assert not delta_coprivacy([parts], 1)
    assert delta_coprivacy([parts], 1, definition=general_coprivacy)
    bounds = {"P2": {"reject": (0, 0.4)}}

    def bounded(game):
        return mixed_coprivacy(game, bounds=bounds, at_least=0.6)

    assert delta_coprivacy([GOOD, BAD], 1, definition=bounded)


def test_wrong_delta_is_refused():
    with pytest.raises(ParameterError, match="from 0 to 1"):
        delta_coprivacy([GOOD], 1.5)
    with pytest.raises(DataError, match="at least one game"):
        delta_coprivacy([], 0.5)
    for weights in ([1, 2], [-1], [0], [np.nan]):
        with pytest.raises(DataError, match="one weight"):
            delta_coprivacy([GOOD], 0.5, weights=weights)


# -- mixed and correlated ----------------------------------------------------------------------


def test_a_mixed_equilibrium_without_help_is_not_mixed_coprivacy():
    """The paper calls every game mixedly coprivate; here nobody ever helps in the only one."""
    assert not mixed_coprivacy(request_game(0, {"P2": (1, -1)}))
    assert not mixed_coprivacy(EXAMPLE_2)


def test_mixed_help_by_hand():
    """P1 mixes so that P2 is indifferent: P(ask) = 1/3; P2 so that P1 is: P(help) = 1/2."""
    help_first = {("ask", "help"): (1, -1), ("ask", "reject"): (-1, 0), ("not", "help"): (0, 0.5),
                  ("not", "reject"): (0, 0)}  # fmt: skip
    game = Game(help_first, together=[{"P1": "ask", "P2": "help"}])
    assert not coprivacy(game)
    verdict = mixed_coprivacy(game)
    assert verdict.cases[0].probability == pytest.approx(1 / 6)
    assert mixed_coprivacy(game, at_least=1 / 6)
    assert not mixed_coprivacy(game, at_least=0.2)


def test_bounds_can_bring_help_about():
    """P2 cannot reject more than 40 percent of requests; asking is then best for P1."""
    verdict = mixed_coprivacy(BAD, bounds={"P2": {"reject": (0, 0.4)}})
    assert verdict.cases[0].probability == pytest.approx(0.6)


def test_correlated_coprivacy_of_example_2_needs_epsilon():
    assert not correlated_coprivacy(EXAMPLE_2)
    verdict = correlated_coprivacy(EXAMPLE_2, epsilon=0.5)
    assert verdict
    assert verdict.kind == "0.5-correlated coprivacy"
    assert verdict.cases[0].probability == pytest.approx(1)
    assert "gain more than 0.5" in str(verdict)
    assert not correlated_coprivacy(EXAMPLE_2, epsilon=0.25, at_least=0.6)


@settings(max_examples=25)
@given(numbers, pairs, pairs)
def test_pure_implies_mixed_implies_correlated(direct, helped, refused):
    game = request_game(direct, {"P2": helped}, {"P2": refused})
    if coprivacy(game):
        assert mixed_coprivacy(game)
    if mixed_coprivacy(game):
        assert correlated_coprivacy(game)
