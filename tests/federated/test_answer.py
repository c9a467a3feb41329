"""The answer as a value, as text and as plain data."""

from tacit.federated.answer import Answer


def test_an_answer_shows_who_is_in_it():
    answer = Answer(
        {"n": 3, "b": {"x": 1.23456789}, "l": list(range(9))}, ("a", "b"), {"c": "gone"}
    )
    assert answer["n"] == 3
    assert answer.as_dict()["missing"] == {"c": "gone"}
    assert str(answer).splitlines() == [
        "n: 3",
        "b: x 1.23457",
        "l: [0, 1, 2, 3, 4, 5, 6, 7, ...]",
        "agencies: a, b",
        "missing: c (gone)",
    ]
