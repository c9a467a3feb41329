"""Queries that point at a person: addresses, numbers, names, people who look for themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.logs.query_log import QueryLog
from tacit.logs.taxonomy import Taxonomy
from tacit.logs.words import STOP_WORDS, in_one_spelling

EMAIL = r"[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+\.[\p{L}\p{N}.-]+"
NUMBER = r"\p{N}(?:[\s./()+-]*\p{N}){4,}|\b\p{N}{1,3}(?:\.\p{N}{1,3}){3}\b"
"""Five digits or more, however they are set apart, or an Internet address."""
STREET = (
    r"(?i)\b\p{N}+\p{L}?\s+(?:\p{L}+\.?\s+){1,4}"
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|way)\b"
    r"|(?i)\b(?:calle|rue|via|avenida)\s+\p{L}+.*\p{N}"
    r"|(?i)\p{L}+(?:straße|strasse|straat|gatan)\s+\p{N}"
)
_LONGEST_NAME = 4


def with_pattern(queries: Any, pattern: str) -> np.ndarray:
    """Say which queries hold a pattern.

    Examples
    --------
    >>> import polars as pl
    >>> with_pattern(pl.Series(["mail anna@mail.example", "flu", "555-01 23"]), NUMBER).tolist()
    [False, False, True]
    """
    # Compatibility forms, such as the full-width @ and digits of East Asia, are unified first.
    plain = queries.str.normalize("NFKC")
    return np.asarray(plain.str.contains(pattern).fill_null(False).to_numpy())


def with_names(
    queries: Any, taxonomy: Taxonomy | None = None, names: frozenset[str] | None = None
) -> np.ndarray:
    """Say which queries hold a given name beside another word that could be a family name.

    ``john smith`` is one; ``rose pruning`` is not where the taxonomy knows this phrase. Stop words
    are no family names.

    Examples
    --------
    >>> import polars as pl
    >>> with_names(pl.Series(["thelma arnold", "arnold, thelma", "thelma", "apple pie"])).tolist()
    [True, True, False, False]
    """
    import polars as pl

    given = pl.col("word").is_in(sorted(_given_names() if names is None else names))
    family = pl.col("word").str.contains(r"^\p{L}{2,}$") & ~pl.col("word").is_in(sorted(STOP_WORDS))
    after = pl.all().exclude("query").shift(-1).over("query").name.suffix("_after")
    pairs = _exploded(queries).with_columns(given=given, family=family).with_columns(after)
    hits = (
        pairs.filter(pl.col("family") & pl.col("family_after"))
        .filter(pl.col("given") | pl.col("given_after"))
        .with_columns(pair=pl.concat_str("word", "word_after", separator=" "))
        .join(_known_pairs(taxonomy), on="pair", how="anti")["query"]
        .unique()
    )
    flags = np.zeros(len(queries), dtype=bool)
    flags[hits.to_numpy()] = True
    return flags


def _known_pairs(taxonomy: Taxonomy | None) -> Any:
    """Return the pairs of neighbouring words in the phrases of a taxonomy."""
    import polars as pl

    if taxonomy is None:
        return pl.DataFrame(schema={"pair": pl.String})
    words = _exploded(taxonomy.terms)
    after = pl.col("word").shift(-1).over("query")
    return words.select(pair=pl.concat_str("word", after, separator=" ")).drop_nulls().unique()


def vanity(log: QueryLog, taxonomy: Taxonomy | None = None) -> np.ndarray:
    """Say which queries look like people who look for themselves.

    These are two to four words unknown to the taxonomy that one user asked at least twice and
    nobody else asked at all [kumar2007]_. Without a taxonomy nothing can be called unknown but what
    is not a stop word.
    """
    import polars as pl

    n_lines = np.bincount(log.query, minlength=len(log.queries))
    alone = (askers(log) == 1) & (n_lines >= 2)
    known = sorted(_said_nothing(taxonomy))
    judged = (
        _exploded(log.queries)
        .group_by("query")
        .agg(
            n=pl.len(),
            plain=(
                pl.col("word").str.contains(r"^\p{L}{2,}$") & ~pl.col("word").is_in(known)
            ).all(),
        )
        .filter(pl.col("plain"), pl.col("n").is_between(2, _LONGEST_NAME))["query"]
    )
    flags = np.zeros(len(log.queries), dtype=bool)
    flags[judged.to_numpy()] = True
    return np.asarray(flags & alone)


def askers(log: QueryLog) -> np.ndarray:
    """Return how many users asked each query."""
    return n_distinct_users(log.user, log.query, log.n_users, len(log.queries))


def n_distinct_users(user: np.ndarray, code: np.ndarray, n_users: int, n_codes: int) -> np.ndarray:
    """Return how many users have each code."""
    pairs = np.unique(code.astype(np.int64) * max(n_users, 1) + user)
    return np.asarray(np.bincount(pairs // max(n_users, 1), minlength=n_codes))


def _exploded(queries: Any) -> Any:
    """Return the words of all queries, one per row, in order."""
    import polars as pl

    return (
        pl.DataFrame({"word": queries.rename("word")})
        .select(in_one_spelling(pl.col("word").fill_null("")).str.split(" "))
        .with_row_index("query")
        .explode("word")
    )


def _given_names() -> frozenset[str]:
    from tacit.logs._given_names import GIVEN_NAMES

    return GIVEN_NAMES


def _said_nothing(taxonomy: Taxonomy | None) -> set[str]:
    """Return words that are no family names: stop words and those of the taxonomy."""
    if taxonomy is None:
        return set(STOP_WORDS)
    words = taxonomy.terms.str.split(" ").explode().unique().to_list()
    return set(STOP_WORDS) | set(words)
