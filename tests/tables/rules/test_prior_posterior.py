"""The prior-posterior rule."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import ParameterError


@pytest.mark.parametrize(
    ("contributions", "p", "q", "sensitive", "level"),
    [
        ([60, 30, 12], 10, 40, True, 3),  # 15 needed, 12 there
        ([60, 30, 15], 10, 40, False, 0),  # a tie is safe
        ([60, 30], 10, 50, True, 12),
    ],
)
def test_by_hand(one_cell, verdict, contributions, p, q, sensitive, level):
    found, above = verdict(tables.PriorPosterior(p=p, q=q), one_cell(contributions))
    assert found == sensitive
    assert above == pytest.approx(level)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=9), st.integers(1, 60), st.integers(1, 2))
def test_it_is_the_p_percent_rule_at_p_over_q(xs, p, n):
    import polars as pl

    table = tacit.tabulate(pl.DataFrame({"r": ["a"] * len(xs), "x": xs}), "r", "x")
    one = tables.PriorPosterior(p=p, q=80, n=n).sensitive(table)
    other = tables.PPercent(p=p / 0.8, n=n).sensitive(table)
    assert one.cells.tolist() == other.cells.tolist()
    assert one.above == pytest.approx(other.above)


def test_knowledge_cannot_become_less():
    with pytest.raises(ParameterError, match="p below q"):
        tables.PriorPosterior(p=40, q=40)


def test_short_form():
    assert tables.PriorPosterior(p=10, q=40, n=2).short() == "pq(10,40,2)"
