"""The dominance rule: hand calculation and the value at which it stops holding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("contributions", "n", "k", "sensitive", "level"),
    [
        ([60, 30, 10], 2, 75, True, 20),  # 90 > 75; 90 / 0.75 - 100
        ([50, 25, 25], 2, 75, False, 0),  # a tie is safe
        ([50, 25.1, 24.9], 2, 75, True, 100.1333333 - 100),
        ([60], 3, 90, True, 60 / 0.9 - 60),
        ([0, 0], 1, 50, False, 0),
        ([30, 30, 30], 1, 33.4, False, 0),
    ],
)
def test_by_hand(one_cell, verdict, contributions, n, k, sensitive, level):
    found, above = verdict(tables.Dominance(n=n, k=k), one_cell(contributions))
    assert found == sensitive
    assert above == pytest.approx(level)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 99), min_size=1, max_size=9), st.integers(1, 3), st.integers(30, 95))
def test_at_its_upper_level_the_cell_would_be_a_tie(xs, n, k):
    import polars as pl

    table = tacit.tabulate(pl.DataFrame({"r": ["a"] * len(xs), "x": xs}), "r", "x")
    found = tables.Dominance(n=n, k=k).sensitive(table)
    largest = sum(sorted(xs, reverse=True)[:n])
    assert bool(found.cells[1]) == (largest * 100 > k * sum(xs))
    if found.cells[1]:
        assert largest == pytest.approx(k / 100 * (sum(xs) + found.above[1]))


def test_weights_stand_for_equal_contributions(one_cell, verdict):
    """Two of the four that a weight of 4 stands for: 200 of 470."""
    table = one_cell([100, 10], [4.0, 7.0])
    assert verdict(tables.Dominance(n=2, k=40), table) == (True, pytest.approx(200 / 0.4 - 470))
    assert verdict(tables.Dominance(n=2, k=43), table) == (False, 0.0)


def test_holdings_are_taken_together(verdict):
    import polars as pl

    frame = pl.DataFrame({"r": ["a"] * 4, "x": [30, 30, 20, 20], "h": [1, 1, 2, 3]})
    table = tacit.tabulate(frame, "r", "x", holding="h")
    assert verdict(tables.Dominance(n=1, k=50), table) == (False, 0.0)
    assert verdict(tables.Dominance(n=1, k=50, level="holding"), table) == (
        True, pytest.approx(20.0),
    )  # fmt: skip


def test_negative_contributions(one_cell, verdict):
    table = one_cell([60, -30, 10])
    with pytest.raises(DataError, match="negative"):
        tables.Dominance().sensitive(table)
    assert verdict(tables.Dominance(n=1, k=50, absolute=True), table) == (
        True, pytest.approx(20.0),
    )  # fmt: skip


@pytest.mark.parametrize("bad", [{"n": 0}, {"k": 0}, {"k": 100}, {"level": "firm"}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        tables.Dominance(**bad)


def test_short_form():
    assert tables.Dominance(n=3, k=80).short() == "dominance(3,80)"
