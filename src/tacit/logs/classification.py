"""Which terms of a taxonomy the queries hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.core.progress import track
from tacit.logs.taxonomy import Taxonomy
from tacit.logs.words import STOP_WORDS, in_one_spelling

_CHUNK = 500_000
"""Queries looked at in one go."""
_LONGEST_PHRASE = 6
_SHORTEST_GUESS = 4
"""Letters that a word needs before a matcher is asked about it."""


@dataclass(frozen=True, eq=False)
class _Phrases:
    """The terms of a taxonomy, ready to be found in lists of words."""

    words: Any
    hashes: np.ndarray
    terms: np.ndarray
    longest: int


def terms_of(queries: Any, taxonomy: Taxonomy) -> Any:
    """Return how often each query holds each term, as a sparse matrix queries by terms.

    Queries are read from left to right; the longest phrase that the taxonomy knows counts, and its
    words do not count again. A word inside no known phrase says nothing, unless the taxonomy has a
    matcher that finds a known word for it.

    Examples
    --------
    >>> import polars as pl
    >>> taxonomy = Taxonomy.of({"apple": ["Home/Fruit"], "apple pie": ["Home/Baking"]})
    >>> terms_of(pl.Series(["best apple pie", "apple apple"]), taxonomy).toarray()
    array([[0, 1], [2, 0]], dtype=int32)
    """
    from scipy.sparse import coo_array

    from tacit.logs import _terms_kernel as kernel

    phrases = _phrases(taxonomy)
    found: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0, np.int64), np.empty(0, np.int32))]
    with track("classifying queries", len(queries)) as advance:
        for start in range(0, len(queries), _CHUNK):
            part = queries.slice(start, _CHUNK)
            words, starts = _words(part, phrases, taxonomy)
            query, term = kernel.longest_phrases(
                words, starts, phrases.hashes, phrases.terms, phrases.longest
            )
            found.append((query.astype(np.int64) + start, term))
            advance(len(part))
    rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    shape = (len(queries), len(taxonomy.terms))
    ones = np.ones(len(rows), dtype=np.int32)
    return coo_array((ones, (rows, columns)), shape=shape).tocsr()


def _phrases(taxonomy: Taxonomy) -> _Phrases:
    """Code the words of the terms and hash each term."""
    import polars as pl

    split = pl.DataFrame({"words": taxonomy.terms.str.split(" ")}).with_row_index("term")
    split = split.filter(pl.col("words").list.len() <= _LONGEST_PHRASE)
    exploded = split.explode("words")
    words = exploded.select(word=pl.col("words").unique(maintain_order=True)).with_row_index("code")
    coded = exploded.join(
        words, left_on="words", right_on="word", how="left", maintain_order="left"
    )
    lists = coded.group_by("term", maintain_order=True).agg("code")
    hashes = _hashes(lists["code"])
    order = np.argsort(hashes, kind="stable")
    if len(np.unique(hashes)) < len(hashes):
        raise DataError("two terms of the taxonomy cannot be told apart", do="report this taxonomy")
    longest = int(split["words"].list.len().to_numpy().max(initial=0))
    terms = lists["term"].to_numpy().astype(np.int32)
    return _Phrases(words, hashes[order], terms[order], longest)


def _hashes(codes: Any) -> np.ndarray:
    """Hash lists of word codes as the kernel does."""
    from tacit.logs._terms_kernel import MULTIPLIER

    value = np.zeros(len(codes), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for place in range(_LONGEST_PHRASE):
            code = codes.list.get(place, null_on_oob=True)
            present = code.is_not_null().to_numpy()
            added = value * MULTIPLIER + code.fill_null(0).to_numpy().astype(np.uint64) + 1
            value = np.where(present, added, value)
    return value


def _words(queries: Any, phrases: _Phrases, taxonomy: Taxonomy) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of the words of each query, -1 where unknown, and where queries start."""
    import polars as pl

    lists = pl.DataFrame({"word": queries.rename("word")}).select(
        in_one_spelling(pl.col("word").fill_null("")).str.split(" ")
    )
    sizes = lists["word"].list.len().to_numpy()
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    exploded = lists.explode("word")
    known = phrases.words
    if taxonomy.matcher is not None:
        known = pl.concat([known, _guessed(exploded["word"].unique(), phrases, taxonomy)])
    coded = exploded.join(known, on="word", how="left", maintain_order="left")
    return coded["code"].cast(pl.Int64).fill_null(-1).to_numpy(), starts


def _guessed(words: Any, phrases: _Phrases, taxonomy: Taxonomy) -> Any:
    """Ask the matcher for a known word in place of each unknown one."""
    import polars as pl

    letters = pl.col("word").str.contains(r"^\p{L}+$")
    asked = (
        pl.DataFrame({"word": words})
        .join(phrases.words, on="word", how="anti")
        .filter(letters, pl.col("word").str.len_chars() >= _SHORTEST_GUESS)
        .filter(~pl.col("word").is_in(sorted(STOP_WORDS)))
        .sort("word")
    )
    alone = phrases.words.filter(pl.col("word").is_in(taxonomy.terms.implode()))
    if asked.is_empty() or alone.is_empty() or taxonomy.matcher is None:
        return phrases.words.clear()
    place = taxonomy.matcher.nearest(asked["word"].to_list(), alone["word"].to_list())
    hit = np.asarray(place) >= 0
    return pl.DataFrame(
        {"code": alone["code"].gather(place[hit]), "word": asked["word"].filter(pl.Series(hit))}
    ).select(phrases.words.columns)
