"""Rates with their intervals, and the verdict that follows from them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tacit.attack.finding import Finding, Rate, Verdict


def found(success, baseline):
    return Finding("key", "Title", "Try", success, baseline, "person", np.arange(3), "bad", "mend")


@given(st.integers(1, 400), st.floats(0, 1))
def test_the_interval_is_wilsons(n, share):
    hits = np.zeros(n)
    hits[: round(share * n)] = 1
    rate = Rate.of(hits)
    expected = binomtest(int(hits.sum()), n).proportion_ci(0.99, method="wilson")
    assert rate.low == pytest.approx(expected.low, abs=1e-9)
    assert rate.high == pytest.approx(expected.high, abs=1e-9)
    assert rate.low <= rate.value <= rate.high


def test_leaked_needs_intervals_that_do_not_meet():
    strong, weak = Rate.of(np.ones(50)), Rate.of(np.r_[np.ones(10), np.zeros(40)])
    assert found(strong, weak).verdict is Verdict.LEAKED
    assert found(weak, weak).verdict is Verdict.GUESSABLE
    assert found(Rate.of(np.zeros(9)), weak).verdict is Verdict.NOTHING


def test_without_an_attempt_nothing_leaks():
    none = Rate.of(np.empty(0))
    assert (none.low, none.high, str(none)) == (0.0, 1.0, "no attempt")
    assert not found(none, Rate.known(0.0, 0)).leaked


def test_one_cell_of_one_is_a_leak_where_nothing_is_left_to_chance():
    assert found(Rate.counted(np.ones(1)), Rate.counted(np.zeros(1))).leaked


def test_is_plain_data():
    finding = found(Rate.of(np.ones(5)), Rate.known(0.1, 5))
    told = json.loads(json.dumps(finding.as_dict(), allow_nan=False))
    assert told["gain"] == pytest.approx(0.9)
    assert told["broken"] == 3
    assert "3 people broken" in finding.summary()
