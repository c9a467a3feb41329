"""Terms of queries."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tacit.logs import Taxonomy
from tacit.logs.classification import terms_of

WORDS = ["apple", "pie", "best", "crust", "tree"]
TERMS = ["apple", "apple pie", "apple pie crust", "pie crust", "tree"]
KNOWN = Taxonomy.of({term: ["A"] for term in TERMS})


def greedy(words):
    """Independent reading from left to right."""
    found, at = [], 0
    while at < len(words):
        for n in range(len(words) - at, 0, -1):
            if " ".join(words[at : at + n]) in TERMS:
                found.append(" ".join(words[at : at + n]))
                at += n
                break
        else:
            at += 1
    return sorted(found)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=7), max_size=6))
def test_longest_phrases_from_left_to_right(queries):
    matrix = terms_of(pl.Series([" ".join(q) for q in queries], dtype=pl.String), KNOWN).toarray()
    names = KNOWN.terms.to_list()
    for row, words in zip(matrix, queries, strict=True):
        found = [name for name, n in zip(names, row, strict=True) for _ in range(n)]
        assert sorted(found) == greedy(words)


def test_spelling_does_not_matter_and_missing_queries_have_no_terms():
    matrix = terms_of(pl.Series(["APPLE-Pie!", None, ""]), KNOWN)
    assert matrix.sum(axis=1).tolist() == [1, 0, 0]


def test_a_matcher_is_asked_only_about_words_that_could_mean_something():
    asked = []

    class Recorder:
        def nearest(self, words, known):
            import numpy as np

            asked.extend(words)
            return np.array([known.index("apple") if w == "appel" else -1 for w in words])

    taxonomy = KNOWN.with_matcher(Recorder())
    queries = pl.Series(["appel pie", "best x 12345 zzzz9", "kovacs"])
    matrix = terms_of(queries, taxonomy)
    assert asked == ["appel", "kovacs"]
    assert matrix[[0]].toarray()[0, KNOWN.terms.to_list().index("apple pie")] == 1
    assert matrix.sum() == 1
