"""Common logs (Algorithm 5)."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.logs.aggregation import aggregate, repetitions_taken


def test_three_repetitions_with_contribution_two_fifths():
    """ODP, section 3.3: 3 x 0.4 = 1.2, so once, and again with probability 0.2."""
    n = 200_000
    taken = repetitions_taken(
        np.full(n, 3), np.full(n, 40), np.full(n, 100), np.random.default_rng(5)
    )
    assert set(taken) == {1, 2}
    # Four standard errors of a share of 0.2.
    assert abs(np.mean(taken == 2) - 0.2) < 4 * np.sqrt(0.2 * 0.8 / n)


def test_the_same_within_a_log(log_of):
    """Users with contribution 4/10 whose most repeated query is asked three times."""
    n = 3000
    asked = {}
    for pair in range(n):
        asked[f"u{pair}"] = ["flu", "flu", "flu", "chess"]
        asked[f"v{pair}"] = [f"q{place}" for place in range(6)]
    log = log_of(asked)
    lines = aggregate(log, np.arange(2 * n) // 2, np.random.default_rng(3))
    flu = log.queries.to_list().index("flu")
    entered = np.bincount(log.user[lines][log.query[lines] == flu], minlength=2 * n)[::2]
    assert set(entered) == {1, 2}
    assert abs(np.mean(entered == 2) - 0.2) < 4 * np.sqrt(0.16 / n)


def test_whole_products_are_not_random():
    # 5 x 20/100 = 1 exactly, although 0.2 has no exact float.
    taken = repetitions_taken(
        np.full(1000, 5), np.full(1000, 20), np.full(1000, 100), np.random.default_rng(0)
    )
    assert set(taken) == {1}


@st.composite
def logs_and_groups(draw):
    n_users = draw(st.integers(2, 8))
    queries = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12)
    asked = {str(u): draw(queries) for u in range(n_users)}
    return asked, np.array([u % max(1, n_users // 2) for u in range(n_users)])


@settings(max_examples=60)
@given(logs_and_groups(), st.booleans(), st.integers(0, 99))
def test_lines_come_from_their_users_and_quotas_hold(case, fill, seed):
    import polars as pl

    from tacit.logs import QueryLog

    asked, groups = case
    rows = [(u, q) for u, queries in asked.items() for q in queries]
    log = QueryLog.of(pl.DataFrame(rows, schema=["user", "query"], orient="row"))
    lines = aggregate(log, groups, np.random.default_rng(seed), fill=fill)
    assert len(set(lines)) == len(lines)
    size = np.bincount(groups)[groups]
    n_own = np.bincount(log.user)
    for user in range(log.n_users):
        own = lines[log.user[lines] == user]
        most = Counter(asked[log.users[user]]).most_common(1)[0][1]
        # The quota stops the list; the last query may pass it by its own repetitions.
        assert len(own) < n_own[user] / size[user] + most + 1
        if fill:
            assert len(own) >= n_own[user] // size[user]


def test_the_most_repeated_queries_come_first(log_of):
    asked = {"u": ["a"] * 10 + list("bcdefghijk"), "v": ["a"] * 10 + list("lmnopqrstu")}
    log = log_of(asked)
    for seed in range(20):
        lines = aggregate(log, np.zeros(2, dtype=int), np.random.default_rng(seed))
        queries = [log.frame["query"][int(n)] for n in lines]
        assert queries.count("a") == 10  # 10 x 1/2 of each of the two users
    assert len(queries) <= 20


def test_same_seed_same_lines(made_up):
    groups = np.arange(made_up.n_users) // 3
    first, second, other = (
        aggregate(made_up, groups, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("fill", [False, True])
def test_an_empty_log_stays_empty(log_of, fill):
    lines = aggregate(log_of({}), np.empty(0, int), np.random.default_rng(0), fill=fill)
    assert len(lines) == 0
