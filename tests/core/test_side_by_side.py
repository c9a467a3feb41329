"""Work done side by side: the same whatever the number of cores."""

import os
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.side_by_side import AT_ONCE, in_groups, side_by_side


@given(st.lists(st.integers(), max_size=50))
def test_every_item_is_in_one_group_and_neighbours_are_apart(items):
    numbered = list(enumerate(items))
    groups = list(in_groups(numbered))
    assert sorted(item for group in groups for item in group) == numbered
    assert all(0 < len(group) <= AT_ONCE for group in groups)
    if len(items) > AT_ONCE:
        for group in groups:
            assert all(b[0] - a[0] > 1 for a, b in pairwise(group))


@pytest.mark.parametrize("cores", [{0}, {0, 1}, set(range(64))])
def test_results_come_in_order_with_places_of_their_own(monkeypatch, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    seen = []

    def work(item, place):
        seen.append(threading.get_ident())
        return item, place

    with side_by_side() as together:
        for _ in range(5):
            assert together(work, "abcd") == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]
        assert together(work, "") == []
    assert len(set(seen)) <= min(len(cores), AT_ONCE)


def test_an_error_of_one_is_raised():
    def work(item, _):
        if item == 2:
            raise LookupError("two")

    with pytest.raises(LookupError, match="two"), side_by_side() as together:
        together(work, [1, 2, 3])
