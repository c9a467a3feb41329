"""Cards and verdict."""

import math

import pytest

from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report import _cards


def measured(value, better="lower", key="m", **more):
    return Measurement(key, key.title(), value, better, **more)


@pytest.mark.parametrize(
    ("before", "after", "better", "expected"),
    [
        (1, 3, "higher", "better"),
        (3, 1, "higher", "worse"),
        (0.5, 0.1, "lower", "better"),
        (0.1, 0.5, "lower", "worse"),
        (0.1, 0.1 + 1e-15, "lower", "unchanged"),
        (0, 0, "lower", "unchanged"),
        (math.nan, 1, "lower", ""),
    ],
)
def test_outcome(before, after, better, expected):
    assert _cards.outcome(measured(before, better), measured(after, better)) == expected


def test_a_card_without_a_before_claims_no_outcome():
    (card,) = _cards.cards((measured(1.0),), Scorecard((), (), {}, {}))
    assert card.before is None
    assert card.outcome == ""
    assert card.definition is None


def test_verdict_speaks_of_the_smallest_group_then_of_loss():
    k = measured(3, "higher", "k-anonymity", unit="count")
    before = {"k-anonymity": measured(1, "higher", "k-anonymity", unit="count")}
    loss = measured(0.1, key="loss", unit="percent")
    text = _cards.verdict(Scorecard((k,), (loss,), before, {}))
    assert text == (
        "Smallest group of records that share the same keys: 1 in the original, 3 now. Loss: 10 %."
    )


def test_verdict_says_what_suppression_hides():
    details = {"readings": {"wildcard": {"smallest": 3}, "strict": {"smallest": 1}}}
    k = measured(1, "higher", "k-anonymity", unit="count", details=details)
    before = {k.key: measured(1, "higher", "k-anonymity", unit="count")}
    text = _cards.verdict(Scorecard((k,), (), before, {}))
    assert text.endswith(
        "1 in the original, 1 now (3 if a suppressed value may stand for any value)."
    )


def test_verdict_without_keys_or_measurements():
    assert _cards.verdict(Scorecard((), (), {}, {})) == "No measurement could be taken."
    other = measured(0.25, key="uniques", unit="percent")
    assert _cards.verdict(Scorecard((other,), (), {}, {})) == "Uniques: 25 %."


def test_measures_left_out_are_named():
    card = Scorecard((), (), {}, {"no_such_measure": "no keys"})
    assert _cards.left_out(card) == [("no_such_measure", "no keys")]
