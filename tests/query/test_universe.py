"""Universes read and write plain data, and nothing else can be said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import TacitError
from tacit.query.universe import Condition, Range, Universe

WORDS = st.text(min_size=1, max_size=6)
PIECES = st.lists(
    st.dictionaries(WORDS, st.lists(WORDS, min_size=1, max_size=3), max_size=3),
    min_size=1, max_size=3,
)  # fmt: skip


@given(PIECES)
def test_plain_data_and_back(pieces):
    universe = Universe.of(pieces)
    assert Universe.of(universe.plain()) == universe
    assert Universe(**universe.as_dict()) == universe or not universe.as_dict()


def test_words_in_python():
    universe = Universe.where(sex="F", age=(18, 65)) | Universe.where(region=["N", 3, True, 2.0])
    assert universe.plain() == [
        {"age": [{"from": 18.0, "to": 65.0}], "sex": ["F"]},
        {"region": ["N", "3", "true", "2"]},
    ]
    assert universe.variables == ("age", "region", "sex")
    assert Universe().is_everybody
    assert Universe.of(None) == Universe()
    assert Condition.of("x", [Range(low=1), (2, None)]).ranges == (Range(low=1), Range(low=2))


@pytest.mark.parametrize(
    "given_",
    ["x", 3, [[1]], {"a": None}, {"a": []}, {"a": [{}]}, {"a": [{"from": 3, "to": 1}]},
     {"a": [{"from": 3, "to": 3}]}, {"a": [{"from": float("nan")}]}, {"a": [{"above": 3}]},
     {"a": [{"from": "x"}]}, {"a": [{"from": True}]}, {"a": ["x", {"from": 1}]}, [{}] * 101,
     {"a": [str(v) for v in range(1001)]}, {"a": float("inf")}],
    ids=str,
)  # fmt: skip
def test_nothing_else_can_be_said(given_):
    with pytest.raises(TacitError):
        Universe.of(given_)


def test_a_variable_once_in_a_piece():
    condition = Condition.of("a", "x")
    with pytest.raises(TacitError, match="once"):
        Universe(pieces=((condition, condition),))
