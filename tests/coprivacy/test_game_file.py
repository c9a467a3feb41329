"""Games in TOML."""

import pytest

from tacit.coprivacy import game_from_toml, read_game
from tacit.core.errors import ReadError, TacitError

EXAMPLE_2 = """
players = ["Ana", "Bea"]
[[outcome]]
play = ["H", "H"]
payoffs = [0, 0]
[[outcome]]
play = ["H", "P"]
payoffs = [1, 0]
[[outcome]]
play = ["P", "H"]
payoffs = [0, 1]
[[outcome]]
play = ["P", "P"]
payoffs = [0.5, 0.5]
[[together]]
Ana = "P"
Bea = "P"
"""


def test_example_2(tmp_path):
    path = tmp_path / "game.toml"
    path.write_text(EXAMPLE_2, encoding="utf-8")
    game = read_game(path)
    assert game.players == ("Ana", "Bea")
    assert len(game.equilibria()) == 3
    assert game.together == ({"Ana": "P", "Bea": "P"},)


def test_parts_and_weights():
    text = EXAMPLE_2.replace("payoffs", "privacy").replace("[0.5, 0.5]", "[0.5, 0.5]\nfun = [4, 4]")
    for play in ("[0, 0]", "[1, 0]", "[0, 1]"):
        text = text.replace(f"privacy = {play}", f"privacy = {play}\nfun = [0, 0]")
    game = game_from_toml(text + "\n[weights]\nfun = 0.5\n")
    assert set(game.parts) == {"privacy", "fun"}
    assert game.utilities(["P", "P"]) == {"Ana": 2.5, "Bea": 2.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("players = [", "not valid TOML"),
        ("player = ['a']", "did you mean 'players'"),
        ("players = ['a']", "needs its outcomes"),
        ("outcome = 3", r"\[\[outcome\]\] tables"),
        ("players = 3\n[[outcome]]\nplay = ['a']\npayoffs = [1]", "list of names"),
        ("strategies = 3\n[[outcome]]\nplay = ['a']\npayoffs = [1]", "per player"),
        ("[[outcome]]\npayoffs = [1]", "needs play and payoffs"),
        ("[[outcome]]\nplay = ['a']", "needs play and payoffs"),
        ("[[outcome]]\nplay = ['a']\npayoffs = [1]\nprivacy = [1]", "not both"),
        ("[[outcome]]\nplay = ['a']\npayoffs = [1]\n" * 2, "given twice"),
        (EXAMPLE_2.replace("[0.5, 0.5]", "[0.5, nan]"), "every outcome needs a payoff"),
        (EXAMPLE_2.replace('Bea = "P"', 'Bea = "X"'), "no strategy 'X'"),
        (EXAMPLE_2.replace("[0.5, 0.5]", "['x', 'y']"), "must be numbers"),
        (EXAMPLE_2.replace("[0.5, 0.5]", "[1e308, 0]"), "at most 1e"),
        ("weights = [1]\n[[outcome]]\nplay = ['a']\nprivacy = [1]", "weights. table"),
        ("weights = {privacy = 'x'}\n[[outcome]]\nplay = ['a']\nprivacy = [1]", "finite number"),
    ],
)
def test_wrong_files_are_refused(text, message):
    with pytest.raises(TacitError, match=message):
        game_from_toml(text)


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(ReadError, match="no game file"):
        read_game(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ReadError, match="not UTF-8"):
        read_game(tmp_path / "bytes.toml")
