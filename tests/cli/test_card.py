"""The scorecard on a terminal."""

import io

from rich.console import Console

from tacit.cli.card import drawn_card, explanations
from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard


def drawn(parts):
    target = io.StringIO()
    terminal = Console(file=target, width=100, markup=False)
    for part in parts:
        terminal.print(part)
    return target.getvalue()


RISK = Measurement("k", "k-[red]anonymity", 3, "higher", unit="count", explanation="All share.")
LOSS = Measurement("loss", "Loss", 0.25, "lower", unit="percent", warnings=("few records",))
BEFORE = Measurement("k", "k-[red]anonymity", 1, "higher", unit="count")


def test_measurements_stand_beside_those_of_the_original():
    card = Scorecard((RISK,), (LOSS,), {"k": BEFORE}, {"other": "no keys"}).as_dict()
    text = drawn(drawn_card(card))
    assert "original" in text
    row = next(line for line in text.splitlines() if "k-[red]anonymity" in line)
    assert row.split() == ["Risk", "k-[red]anonymity", "1", "3", "higher"]
    assert "25 %" in text
    assert "note on Loss: few records" in text
    assert "not measured: other (no keys)" in text


def test_without_an_original_there_is_one_column_less():
    text = drawn(drawn_card(Scorecard((RISK,), (), {}, {}).as_dict(), after="value"))
    assert "original" not in text
    assert "value" in text


def test_an_empty_card_draws_no_table():
    assert drawn(drawn_card(Scorecard((), (), {}, {}).as_dict())) == ""


def test_explanations_are_in_words():
    assert "k-[red]anonymity: All share." in drawn(
        explanations(Scorecard((RISK,), (LOSS,), {}, {}).as_dict())
    )
