"""Verdicts: joined with | and &, with the larger protection."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import DataError
from tacit.tables import Sensitive

A = Sensitive.by("a", np.array([True, True, False]), np.array([4.0, 1.0, 9.0]))
B = Sensitive.by("b", np.array([False, True, True]), 2.0, below=3.0, width=5.0)


def test_levels_of_other_cells_are_zero():
    assert A.above.tolist() == [4, 1, 0]
    assert A.below.tolist() == [4, 1, 0]
    assert B.width.tolist() == [0, 5, 5]
    assert len(Sensitive.none(3)) == 0


def test_or_takes_all_cells_and_the_larger_level():
    either = A | B
    assert either.cells.all()
    assert either.above.tolist() == [4, 2, 2]
    assert either.below.tolist() == [4, 3, 3]
    assert {name: hit.tolist() for name, hit in either.hits.items()} == {
        "a": [True, True, False], "b": [False, True, True],
    }  # fmt: skip
    assert repr(either) == "Sensitive(3 of 3 cells; a: 2, b: 2)"


def test_and_takes_common_cells():
    both = A & B
    assert both.primary.tolist() == [1]
    assert both.above.tolist() == [0, 2, 0]
    assert both.hits["a"].tolist() == [False, True, False]


def test_the_same_rule_twice_keeps_the_cells_of_both():
    first = Sensitive.by("nk", np.array([True, False]), 1.0)
    second = Sensitive.by("nk", np.array([False, True]), 1.0)
    assert (first | second).hits["nk"].tolist() == [True, True]


def test_leaving_out_and_taking():
    rest = A.without(np.array([True, False, False]))
    assert rest.cells.tolist() == [False, True, False]
    assert rest.above.tolist() == [0, 1, 0]
    assert A.take(np.array([1])).above.tolist() == [1]


@pytest.mark.parametrize("name", ["level_below", "level_above"])
def test_a_level_below_zero_is_refused_by_cell(name):
    """From whatever file it comes; a minus sign too many left the cell without protection."""
    frame = pl.DataFrame({"r": list("NNSS"), "x": [9, 1, 5, 4]})
    table = tacit.tabulate(frame, "r", "x").declare_unsafe({"r": "N"})
    levels = np.array([np.nan, -5.0, 10.0])
    with pytest.raises(DataError, match=r"must not be below zero.*\(N\)"):
        table.replace(**{name: levels}).sensitive()
    other = np.array([np.nan, 10.0, -5.0])  # S is not sensitive
    assert len(table.replace(**{name: other}).sensitive()) == 1
