"""tacit coprivacy: a game file in, equilibria and verdicts out."""

import json

import pytest

GAME = """
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
"""
TOGETHER = '[[together]]\nP1 = "publish"\nP2 = "publish"\n'


@pytest.fixture
def game(folder):
    (folder / "game.toml").write_text(GAME + TOGETHER, encoding="utf-8")
    return "game.toml"


def test_example_2_is_explained(run, game):
    text = run("coprivacy", game).stdout
    assert "3 equilibria in pure strategies" in text
    assert "by (weakly) dominant strategies; (publish, publish) would give everybody more" in text
    assert "coprivacy: no" in text
    assert "P1 plays 'publish' for 0.5 and would gain 0.5 by 'hide'" in text


def test_json_holds_the_same(run, game):
    document = json.loads(run("coprivacy", game, "--epsilon", "0.5", "--json").stdout)
    assert [e["is_dominant"] for e in document["equilibria"]] == [True, False, False]
    verdicts = {v["kind"]: v["holds"] for v in document["coprivacy"]}
    assert verdicts == {
        "coprivacy": False, "mixed coprivacy": False, "0.5-correlated coprivacy": True,
    }  # fmt: skip


def test_a_game_with_parts_is_judged_in_general_too(run, folder):
    text = GAME.replace("payoffs", "functionality") + TOGETHER
    (folder / "game.toml").write_text(text, encoding="utf-8")
    document = json.loads(run("coprivacy", "game.toml", "--json").stdout)
    assert [v["kind"] for v in document["coprivacy"]] == [
        "general coprivacy", "mixed general coprivacy", "correlated general coprivacy",
    ]  # fmt: skip


def test_without_together_nothing_is_judged(run, folder):
    (folder / "game.toml").write_text(GAME, encoding="utf-8")
    assert json.loads(run("coprivacy", "game.toml", "--json").stdout)["coprivacy"] == []


def test_too_large_for_mixed_equilibria_is_a_warning(run, folder):
    outcomes = "".join(
        f'[[outcome]]\nplay = ["{a:012b}"]\npayoffs = [1]\n'.replace(
            f'"{a:012b}"', ", ".join(f'"{c}"' for c in f"{a:012b}")
        ).replace("[1]", str([1] * 12))
        for a in range(2**12)
    )
    (folder / "game.toml").write_text(outcomes, encoding="utf-8")
    result = run("coprivacy", "game.toml", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["n_equilibria"] == 2**12
    assert document["mixed_equilibria"] is None
    assert "too many combinations" in document["warnings"][0]


def test_refusals_are_one_line(run, game, refusal):
    assert "no game file" in refusal(run("coprivacy", "none.toml"))
    assert "0 or above" in refusal(run("coprivacy", game, "--epsilon", "-1"))
