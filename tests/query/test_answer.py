"""Answers and refusals are plain values."""

from tacit.query.answer import Answer, Refusal, Refused, released


def test_an_answer_is_a_table_with_words():
    answer = Answer(analysis="crosstab", columns={"sex": ["f", "m"], "count": [1, None]})
    assert answer.frame.shape == (2, 2)
    told = released(answer, notes=("a", "a", "b"), policy="p 1")
    assert told.notes == ("a", "b")
    assert "b" in str(told)
    assert Answer(**told.as_dict()) == told
    assert not told.is_refusal


def test_a_refusal_names_the_rule():
    refusal = Refusal(rule="r", reason="no", hint="ask less")
    assert refusal.is_refusal
    assert str(refusal) == "refused (r): no; ask less"
    assert Refused("r", "no").rule == "r"
