"""A search engine's query log: what people asked, when, and what they opened."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.hierarchy import Tree
from tacit.datasets._draw import checked_count, generator, labelled, pick, pick_by, zipf_weights
from tacit.datasets._query_words import FIRST_NAMES, SURNAMES, TOPICS, WORDS_AROUND

_DAYS = 92
_QUERIES_PER_USER = 55
_HOUR_WEIGHTS = (
    3,
    2,
    1,
    1,
    1,
    2,
    4,
    7,
    9,
    10,
    11,
    11,
    12,
    11,
    11,
    11,
    12,
    12,
    13,
    15,
    17,
    16,
    12,
    7,
)
_PERSONAL = 0.35
"""Share of users who look for themselves now and then."""


def query_log(n_users: int = 100, *, seed: int = 1) -> Microdata:
    """Return the queries of some users, resembling the search log that AOL published in 2006.

    Fully synthetic: names are combined at random, addresses end in ``.example``, telephone numbers
    are from the range reserved for fiction. Each user has a few favourite topics; within a topic
    queries follow Zipf's law. Some users look for their own name, e-mail address or telephone
    number, which is what makes such a log dangerous. The hierarchy of ``query`` goes from the query
    to its subject, its topic, and everything; personal queries are outside it.

    Parameters
    ----------
    n_users
        Number of users; each has about 55 queries, at least one.
    seed
        Same seed, same records.

    Examples
    --------
    >>> log = query_log(20)
    >>> log.columns
    ['user', 'query', 'time', 'rank', 'url']
    >>> log.schema.identifiers
    ['user']
    """
    frame = _frame(checked_count(n_users, "n_users"), generator(seed))
    return (
        Microdata.of(frame)
        .with_roles(
            identifiers=["user"],
            confidential=["query", "url"],
            non_confidential=["time", "rank"],
        )
        .with_kinds(user="nominal", query="text", url="text")
        .with_hierarchies(query=Tree(paths=_taxonomy()))
    )


def _taxonomy() -> list[tuple[str, str, str, str]]:
    """Return the path of each query: itself, its subject, its topic, everything."""
    return [
        (words.format(subject), subject, topic, "*")
        for topic, subjects in TOPICS.items()
        for subject in subjects
        for words in WORDS_AROUND
    ]


def _frame(n_users: int, rng: np.random.Generator) -> Any:
    import polars as pl

    per_user = 1 + np.floor(rng.gamma(0.9, _QUERIES_PER_USER / 0.9, n_users)).astype(np.int64)
    user = np.repeat(np.arange(n_users), per_user)
    topic = _drawn_topics(user, n_users, rng)
    position = pick(rng, _popularity(), len(user))
    taxonomy = _taxonomy()
    n_queries = len(taxonomy) // len(TOPICS)
    query = labelled(topic * n_queries + position, [path[0] for path in taxonomy])
    clicked = pl.Series(rng.random(len(user)) < 0.53)
    rank = pl.Series(np.minimum(rng.geometric(0.35, len(user)), 50), dtype=pl.Int64)
    frame = pl.DataFrame(
        {
            "user": user + 1,
            "query": _with_personal(query, user, n_users, rng),
            "time": _times(len(user), rng),
            "rank": pl.select(pl.when(clicked).then(rank)).to_series(),
            "url": pl.select(pl.when(clicked).then(_urls(topic, rng))).to_series(),
        }
    )
    return frame.sort("user", "time", maintain_order=True)


def _popularity() -> np.ndarray:
    """Return how often each query of a topic is asked: popular subjects, plain words first."""
    n_subjects = len(next(iter(TOPICS.values())))
    return np.outer(zipf_weights(n_subjects), zipf_weights(len(WORDS_AROUND), 1.2)).ravel()


def _drawn_topics(user: np.ndarray, n_users: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the topic of each query: mostly one of the user's three favourites."""
    favourites = pick(rng, zipf_weights(len(TOPICS), 0.4), 3 * n_users).reshape(n_users, 3)
    choice = pick(rng, (0.55, 0.22, 0.11, 0.12), len(user))
    anything = pick(rng, zipf_weights(len(TOPICS), 0.4), len(user))
    own = favourites[user, np.minimum(choice, 2)]
    return np.where(choice < 3, own, anything)


def _with_personal(query: Any, user: np.ndarray, n_users: int, rng: np.random.Generator) -> Any:
    """Replace some queries by the user's own name, e-mail address or telephone number."""
    import polars as pl

    first = rng.integers(len(FIRST_NAMES), size=n_users)[user]
    last = rng.integers(len(SURNAMES), size=n_users)[user]
    number = rng.integers(0, 10_000, size=n_users)[user]
    asks = (rng.random(n_users) < _PERSONAL)[user] & (rng.random(len(user)) < 0.08)
    form = pick_by(rng, [(1, 0, 0, 0), (0, 6, 2, 1)], asks.astype(np.int64))
    given, family = labelled(first, FIRST_NAMES), labelled(last, SURNAMES)
    digits = pl.Series(number).cast(pl.String).str.zfill(4)
    name = pl.concat_str(given, family, separator=" ")
    mail = pl.concat_str(given, pl.lit("."), family, pl.lit("@mail.example"))
    phone = pl.concat_str(pl.lit("555-01"), digits.str.slice(0, 2), pl.lit(" "), family)
    chosen = pl.Series(form)
    return pl.select(
        pl.when(chosen == 1)
        .then(name)
        .when(chosen == 2)
        .then(mail)
        .when(chosen == 3)
        .then(phone)
        .otherwise(query)
    ).to_series()


def _times(n: int, rng: np.random.Generator) -> Any:
    import polars as pl

    hour = pick(rng, _HOUR_WEIGHTS, n)
    seconds = rng.integers(_DAYS, size=n) * 86_400 + hour * 3600 + rng.integers(3600, size=n)
    # A fixed quarter of a year, whatever the date is today.
    return pl.Series(np.datetime64("2006-03-01T00:00:00", "us") + seconds.astype("m8[s]"))


def _urls(topic: np.ndarray, rng: np.random.Generator) -> Any:
    endings = ("hub", "guide", "world", "shop", "forum")
    sites = [f"http://www.{t.split()[0]}{ending}.example" for t in TOPICS for ending in endings]
    site = topic * len(endings) + pick(rng, zipf_weights(len(endings)), len(topic))
    return labelled(site, sites)
