"""Scorecards."""

import json

import numpy as np
import pytest

from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard


def taken(key, value, *, better="lower", per_unit=None):
    return Measurement(key, key.title(), value, better, unit="percent", per_unit=per_unit)


@pytest.fixture
def card():
    return Scorecard(
        risks=(taken("uniques", 0.1, per_unit=np.zeros(3)),),
        utilities=(taken("loss", 0.2, better="higher"),),
        before={"uniques": taken("uniques", 0.5)},
        left_out={"linkage": "there are no keys"},
    )


def test_lookup(card):
    assert card["loss"].value == 0.2
    assert "uniques" in card
    assert "linkage" not in card
    assert [m.key for m in card] == ["uniques", "loss"]
    with pytest.raises(KeyError):
        card["linkage"]


def test_rows(card):
    assert card.rows() == [
        {"aspect": "risk", "measure": "Uniques", "before": "50 %", "after": "10 %",
         "better": "lower"},
        {"aspect": "utility", "measure": "Loss", "before": "", "after": "20 %",
         "better": "higher"},
    ]  # fmt: skip


def test_measurements_that_look_alike_keep_their_aspect():
    twin = {"value": 0.1, "per_unit": np.zeros(3)}
    card = Scorecard((taken("same", **twin),), (taken("same", **twin),), {}, {})
    assert [row["aspect"] for row in card.rows()] == ["risk", "utility"]


def test_printed_card_is_aligned_and_says_what_is_missing(card):
    lines = str(card).split("\n")
    assert lines[0].split() == ["measure", "original", "release", "better"]
    assert lines[1].index("50 %") == lines[0].index("original")
    assert lines[-1] == "not measured: linkage (there are no keys)"


def test_plain_data(card):
    content = json.loads(json.dumps(card.as_dict(), allow_nan=False))
    assert content["risk"][0]["value"] == 0.1
    assert content["before"]["uniques"]["value"] == 0.5
    assert content["left_out"] == {"linkage": "there are no keys"}


def test_empty_card():
    empty = Scorecard((), (), {}, {})
    assert empty.rows() == []
    assert str(empty).split() == ["measure", "original", "release", "better"]
