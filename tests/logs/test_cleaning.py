"""Cleaning."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import ParameterError
from tacit.logs import Cleaning, QueryLog, clean
from tacit.logs.identifiers import askers


def lines(**columns):
    return QueryLog.of(pl.DataFrame(columns))


def test_each_reason_is_counted_once(demonstration):
    log = lines(
        user=[1, 1, 2, 2, 3, 3, 3, 3],
        query=["flu", "a@b.example", "flu", "anna smith", "5550199", "9 elm st", "xq zk", "xq zk"],
    )  # fmt: skip
    cleaned = clean(log, Cleaning(), demonstration)
    assert cleaned.log.queries.to_list() == ["flu"]
    assert cleaned.removed == {
        "e-mail": (1, 1), "number": (1, 1), "street": (1, 1), "name": (1, 1), "vanity": (1, 2),
        "rare": (0, 0),
    }  # fmt: skip
    assert (cleaned.n_users_lost, cleaned.n_lines_removed) == (1, 6)
    assert log.n_lines == 8


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcdef")), max_size=40),
       st.integers(1, 4))  # fmt: skip
def test_every_query_that_is_left_was_asked_by_enough_users(rows, min_users):
    frame = pl.DataFrame(rows, schema={"user": pl.Int64, "query": pl.String}, orient="row")
    rules = Cleaning(identifiers=False, names=False, vanity=False, min_users=min_users)
    left = clean(frame, rules).log
    assert all(askers(left) >= min_users)
    wanted = [q for q in set("abcdef") if len({u for u, x in rows if x == q}) >= min_users]
    assert sorted(left.queries) == sorted(wanted)


def test_times_become_coarser():
    times = [datetime(2006, 3, 15, 13, 45), datetime(2006, 3, 15, 14, 5), None]
    log = lines(user=[1, 1, 2], query=["a"] * 3, time=times)
    for unit, wanted in {
        "hour": [datetime(2006, 3, 15, 13), datetime(2006, 3, 15, 14), None],
        "day": [datetime(2006, 3, 15)] * 2 + [None],
        "week": [datetime(2006, 3, 13)] * 2 + [None],
        "month": [datetime(2006, 3, 1)] * 2 + [None],
        "keep": times,
    }.items():
        assert clean(log, Cleaning(time=unit)).log.details["time"].to_list() == wanted
    assert clean(log).log.details.width == 0


def test_a_session_has_the_time_of_its_first_line():
    at = [datetime(2006, 3, 1, 8, minute) for minute in (0, 20, 55, 10)]
    log = lines(user=[1, 1, 1, 2], query=["a"] * 4, time=at)
    rules = Cleaning(time="keep", session_gap=30, min_users=1)
    minutes = [t.minute for t in clean(log, rules).log.details["time"]]
    assert minutes == [0, 0, 55, 10]


def test_addresses_become_coarser_and_rare_ones_go():
    log = lines(
        user=[1, 2, 3],
        query=["a"] * 3,
        rank=[1, 2, 3],
        url=["http://x.shop.example/1", "http://y.shop.example/2", "http://anna.example"],
    )
    details = clean(log, Cleaning(url="domain")).log.details
    assert details["url"].to_list() == ["shop.example", "shop.example", None]
    assert details["rank"].to_list() == [1, 2, None]  # the rank goes with the address
    hosts = clean(log, Cleaning(url="host", min_users=1)).log.details["url"].to_list()
    assert hosts == ["x.shop.example", "y.shop.example", "anna.example"]
    assert clean(log, Cleaning(url="keep")).log.details["url"].to_list()[2] == "http://anna.example"


def test_text_that_is_no_time_is_not_released_as_one():
    log = lines(user=[1, 2], query=["a", "a"], time=["on monday", "at ten"])
    assert clean(log, Cleaning(time="day")).log.details["time"].to_list() == [None, None]


@pytest.mark.parametrize(
    "bad", [{"min_users": 0}, {"time": "year"}, {"session_gap": -1}, {"session_gap": 30}]
)
def test_bad_rules_are_refused(bad):
    with pytest.raises(ParameterError):
        Cleaning(**bad)


def test_an_empty_log_stays_empty(log_of):
    assert clean(log_of({})).log.n_lines == 0
