"""Incentives in words."""

from tacit.coprivacy import Game, explain, prisoners_dilemma, publication_game
from tacit.coprivacy.explanation import holds_whatever_others_do, steadiest_profile

DILEMMA = prisoners_dilemma().game()


def test_an_equilibrium_says_what_leaving_costs():
    text = explain(DILEMMA, ["betray", "betray"])
    assert text.splitlines()[0] == "An equilibrium: nobody gains by leaving."
    assert "P1 plays 'betray' for 1 and would lose 1 by 'silent', the best alternative." in text


def test_ties_are_named():
    text = explain(publication_game(2).game(), ["hide", "hide"])
    assert "would neither gain nor lose by 'publish'" in text


def test_many_who_would_leave_are_counted():
    game = publication_game(8).game()
    text = explain(game, ["publish"] * 8)
    assert text.splitlines()[0] == "Not an equilibrium: P1, P2 and 6 others would leave."
    assert len(text.splitlines()) == 9


def test_a_player_without_choice():
    assert "has no other strategy" in explain(Game([[1.0]]), ["1"])


def test_steadiest_profile_keeps_the_choice():
    assert steadiest_profile(DILEMMA, {"P1": "silent"}) == {"P1": "silent", "P2": "betray"}


def test_whatever_others_do():
    assert holds_whatever_others_do(DILEMMA, {"P1": "betray"})
    assert not holds_whatever_others_do(DILEMMA, {"P1": "silent"})
