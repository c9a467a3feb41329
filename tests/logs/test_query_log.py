"""Query logs as codes."""

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import DataError, SchemaError, UnknownColumnError
from tacit.logs import QueryLog

LINES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["flu", "Flu", "日本", "a b", "", "-", None])),
    max_size=30,
)


@given(LINES)
def test_nothing_but_blank_lines_is_lost(lines):
    frame = pl.DataFrame(lines, schema={"user": pl.Int64, "query": pl.String}, orient="row")
    log = QueryLog.of(frame)
    kept = [(str(u), q) for u, q in lines if q not in ("", "-", None)]
    assert log.frame.select("user", "query").rows() == kept
    assert log.n_left_out == len(lines) - len(kept)
    seen = dict.fromkeys(str(u) for u, q in lines if q is not None)
    assert log.users.to_list() == [u for u in seen if u in {v for v, _ in kept}]
    assert log.queries.to_list() == list(dict.fromkeys(q for _, q in kept))


@given(LINES)
def test_counts_are_those_of_the_lines(lines):
    frame = pl.DataFrame(lines, schema={"user": pl.Int64, "query": pl.String}, orient="row")
    log = QueryLog.of(frame)
    counts = log.counts().toarray()
    assert counts.sum() == log.n_lines
    for code, user in enumerate(log.users):
        for place, query in enumerate(log.queries):
            wanted = sum((str(u), q) == (user, query) for u, q in lines)
            assert counts[code, place] == wanted


def test_any_frame_and_any_column_names():
    frame = pd.DataFrame({"id": ["a", "b"], "text": ["flu", "chess"], "more": [1, 2]})
    log = QueryLog.of(frame, columns={"user": "id", "query": "text"})
    assert log.frame.rows() == [("a", "flu"), ("b", "chess")]
    assert QueryLog.of(log) is log


def test_lines_without_user_are_left_out():
    log = QueryLog.of(pl.DataFrame({"user": [None, 1], "query": ["flu", "chess"]}))
    assert (log.n_lines, log.n_left_out, log.users.to_list()) == (1, 1, ["1"])


@pytest.mark.parametrize(
    ("columns", "error"),
    [({"user": "nobody"}, UnknownColumnError), ({"who": "user"}, SchemaError)],
)
def test_wrong_columns_are_refused(columns, error):
    with pytest.raises(error):
        QueryLog.of(pl.DataFrame({"user": [1], "query": ["a"]}), columns=columns)


def test_a_log_without_users_is_refused():
    with pytest.raises(SchemaError, match="needs a column with the user"):
        QueryLog.of(pl.DataFrame({"query": ["a"]}))


def test_keeping_forgets_users_and_queries_without_lines(log_of):
    log = log_of({"u": ["flu", "chess"], "v": ["chess"]})
    kept = log.keeping([True, False, False])
    assert (kept.users.to_list(), kept.queries.to_list()) == (["u"], ["flu"])
    assert kept.details.width == 0
    assert log.n_lines == 3
    assert log.keeping([False] * 3).n_users == 0


def test_details_need_a_row_per_line(log_of):
    with pytest.raises(DataError, match="one row per line"):
        log_of({"u": ["flu"]}).with_details(pl.DataFrame({"time": [1, 2]}))
