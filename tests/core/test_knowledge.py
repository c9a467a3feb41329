"""What an intruder knows about which record (TFB, section 3)."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.core.knowledge import Knowledge


def test_nothing_is_known_by_default():
    nothing = Knowledge()
    assert nothing.columns == []
    assert nothing.known("age", 3).tolist() == [False, False, False]


def test_known_for_everyone_and_for_some():
    knowledge = Knowledge.of(["age"], {"income": [True, False]}, 2)
    assert knowledge.columns == ["age", "income"]
    assert knowledge.known("age", 2).tolist() == [True, True]
    assert knowledge.known("income", 2).tolist() == [True, False]
    assert knowledge.known("sex", 2).tolist() == [False, False]


def test_everyone_wins_over_some():
    knowledge = Knowledge.of(["age"], {"age": [False, False]}, 2)
    assert knowledge.known("age", 2).all()


def test_flags_come_from_any_iterable_and_are_frozen():
    flags = [True, False]
    knowledge = Knowledge.of([], {"a": (f for f in flags)}, 2)
    flags[0] = False
    assert knowledge.known("a", 2).tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        knowledge.some["a"][0] = False


@pytest.mark.parametrize("flags", [[], [True], [True] * 3])
def test_one_flag_per_record(flags):
    with pytest.raises(DataError, match=f"got {len(flags)} values for 2 records"):
        Knowledge.of([], {"a": flags}, 2)


def test_taking_records_and_columns():
    knowledge = Knowledge.of(["age"], {"income": [True, False], "sex": [False, True]}, 2)
    taken = knowledge.take(np.array([1, 1, 0]))
    assert taken.known("income", 3).tolist() == [False, False, True]
    assert taken.known("age", 3).all()
    part = knowledge.only(["age", "sex", "other"])
    assert part.columns == ["age", "sex"]
    assert knowledge.only([]).columns == []


@pytest.mark.parametrize("flags", [["no", "yes"], [True, None], [0.0, 2.0], [0.5, 1.0]])
def test_flags_that_are_neither_true_nor_false_are_refused(flags):
    with pytest.raises(DataError, match="one true or false per record"):
        Knowledge.of([], {"a": flags}, 2)


@pytest.mark.parametrize("flags", [[1, 0], np.array([True, False]), [1.0, 0.0], [np.True_, False]])
def test_flags_may_be_ones_and_zeros(flags):
    assert Knowledge.of([], {"a": flags}, 2).known("a", 2).tolist() == [True, False]
