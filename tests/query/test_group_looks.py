"""What is remembered about groups: by description, by units, by pairs of group and cell."""

import numpy as np

from tacit.query.group_looks import GroupLooks, described, paired, units_of


def marks(*numbers):
    return np.array(numbers, dtype=np.uint64)


def test_the_same_units_are_one_group_however_described():
    looks = GroupLooks()
    first = looks.keys(marks(10), marks(77))
    second = looks.keys(marks(11), marks(77))
    assert first.tolist() == second.tolist() == [10]
    # From now on the other description is enough.
    assert looks.keys(marks(11)).tolist() == [10]
    assert looks.keys(marks(12), marks(78)).tolist() == [12]


def test_nobody_is_no_group():
    looks = GroupLooks()
    assert looks.keys(marks(1, 2), marks(0, 0)).tolist() == [1, 2]


def test_what_was_told_moves_with_a_group_that_turns_out_to_be_known():
    looks = GroupLooks()
    looks.add("count", marks(5), np.array([0.5]), [1])
    looks.keys(marks(4), marks(99))
    looks.keys(marks(5), marks(99))
    assert looks.squares("count", marks(4)).tolist() == [0.5]
    assert looks.squares("income", marks(4)).tolist() == [0.0]


def test_pairs_are_counted_once():
    looks = GroupLooks()
    pairs = paired(marks(1, 1, 2), marks(8, 9, 8))
    assert len(set(pairs.tolist())) == 3
    looks.add("count", marks(1), np.array([1.0]), pairs[:2].tolist())
    assert looks.knows("count", pairs).tolist() == [True, True, False]


def test_descriptions_and_units():
    assert described("sex", "f") != described("sex", "m") != described("se", "xm")
    assert described("ä", "ö") == described("ä", "ö")
    assert units_of(np.array([[0, 0], [1, 0], [0, 1]])).tolist() == [0, 2**31, 1]
