"""Queries in time order."""

import numpy as np
import pytest

from tacit.coprivacy import Queries, draw_queries
from tacit.core.errors import DataError, ParameterError


def test_reading_any_kind_of_names():
    queries = Queries.of(["ana", "李", "ana"], np.array([7, 7, 3]))
    assert queries.peers.tolist() == ["ana", "李"]
    assert queries.peer.tolist() == [0, 1, 0]
    assert queries.keywords[queries.keyword].tolist() == [7, 7, 3]
    assert queries.n_own.tolist() == [2, 1]


def test_interests_are_distinct_pairs():
    keys, counts, where = Queries.of([0, 0, 1, 0], ["b", "b", "b", "a"]).interests
    assert keys.tolist() == [0, 1, 3]
    assert counts.tolist() == [1, 2, 1]
    assert where.tolist() == [1, 1, 2, 0]


@pytest.mark.parametrize(
    ("peers", "keywords"),
    [([], []), ([1, 2], ["a"]), ([1, None], ["a", "b"]), ([1.0, np.nan], ["a", "b"]),
     ([1, 2], ["a", None]), ([[1, 2]], [["a", "b"]])],
)  # fmt: skip
def test_wrong_columns_are_refused(peers, keywords):
    with pytest.raises(DataError):
        Queries.of(peers, keywords)


def test_a_draw_is_repeatable_and_has_the_size_asked_for():
    a, b = draw_queries(50, 20, seed=3), draw_queries(50, 20, seed=3)
    assert np.array_equal(a.keyword, b.keyword)
    assert len(a) == 1000
    assert (a.n_own == 20).all()
    assert not np.array_equal(a.keyword, draw_queries(50, 20, seed=4).keyword)


def test_skew_makes_interests_unequal():
    top = [np.bincount(draw_queries(200, 50, n_interests=10, skew=s, seed=1).keyword).max()
           for s in (0.0, 1.5)]  # fmt: skip
    assert top[1] > 5 * top[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_peers": 0},
        {"n_each": -1},
        {"n_keywords": 2.5},
        {"n_interests": True},
        {"skew": -1},
        {"skew": np.nan},
    ],
)
def test_wrong_sizes_are_refused(wrong):
    with pytest.raises(ParameterError):
        draw_queries(**({"n_peers": 10} | wrong))
