"""Users who look exactly alike."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import SchemaError
from tacit.logs import user_k_anonymity


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.sampled_from([1, None])),
                min_size=1, max_size=25))  # fmt: skip
def test_it_counts_equal_logs_whatever_their_order(rows):
    frame = pl.DataFrame(rows, schema=["user", "query", "rank"], orient="row")
    own = {u: tuple(sorted((q, str(r)) for v, q, r in rows if v == u)) for u, _, _ in rows}
    alike = [list(own.values()).count(log) for log in own.values()]
    found = user_k_anonymity(frame)
    assert found.value == min(alike)
    assert found.details["distinct_logs"] == len(set(own.values()))


def test_how_often_a_line_occurs_counts():
    frame = pl.DataFrame({"user": [1, 2, 2], "query": ["a", "a", "a"]})
    assert user_k_anonymity(frame).value == 1


def test_an_empty_log_has_no_answer():
    frame = pl.DataFrame(schema={"user": pl.Int64, "query": pl.String})
    assert math.isnan(user_k_anonymity(frame).value)


def test_a_log_without_users_is_refused():
    with pytest.raises(SchemaError):
        user_k_anonymity(pl.DataFrame({"query": ["a"]}))
