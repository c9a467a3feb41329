"""Values worked out by hand in source.md."""

import polars as pl

from tacit import risk

A = ["x"] * 7 + ["y"] * 3
B = ["u"] * 5 + ["v"] * 2 + ["u"] * 2 + ["v"]
BEFORE = pl.DataFrame({"a": A, "b": B, "other": range(10)})


def swapped(i, j):
    b = list(B)
    b[i], b[j] = b[j], b[i]
    return BEFORE.with_columns(b=pl.Series(b))


def measured(after):
    found = risk.SwappingRisk(columns=["a", "b"]).measure(BEFORE, after)
    return found.value, found.details["unswapped"]


def test_no_swap():
    assert measured(BEFORE) == (0.5, 10)


def test_a_swap_that_fills_the_small_cells():
    assert measured(swapped(0, 9)) == (0.0, 8)


def test_a_swap_that_leaves_the_table():
    assert measured(swapped(0, 5)) == (0.5, 8)
