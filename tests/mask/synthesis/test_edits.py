"""Edit rules on coded columns."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import DataError, ParameterError
from tacit.mask.synthesis.edits import Edits, arranged, compared
from tacit.mask.synthesis.rules import Condition, IfThen

from .conftest import column


def test_bounds_and_forced_values():
    columns = {"x": column([1.0, 5.0]), "y": column([1.0, 2.0], "y"), "g": column(["a", "b"], "g")}
    edits = Edits(
        columns,
        (
            tacit.NonNegative(column="x"),
            tacit.AtLeast(larger="x", smaller="y"),
            tacit.ZeroWhen(column="x", indicator="g", equals="a"),
        ),
        (IfThen(column="y", comparison=">", value=1, then="g", becomes="b"),),
    )
    bounds = edits.bounds("x", {"y": np.array([-3.0, 4.0, np.nan])}, 3)
    assert bounds.low.tolist() == [0, 4, 0]
    assert edits.bounds("y", {"x": np.array([2.0])}, 1).high.tolist() == [2]
    where, value = edits.forced("x", {"g": np.array([0, 1, -1])})[0]
    assert (where.tolist(), value) == ([True, False, False], 0)
    where, value = edits.forced("g", {"y": np.array([0.0, 3.0])})[0]
    assert (where.tolist(), value) == ([False, True], 1)
    assert edits.before == [("g", "x"), ("y", "g")]


def test_rules_in_a_circle_are_refused():
    with pytest.raises(ParameterError, match="circle"):
        arranged(["a", "b"], [("a", "b"), ("b", "a")])


def test_text_and_numbers_do_not_compare():
    with pytest.raises(DataError, match="text"):
        compared(column([1.0, 2.0]), np.array([1.0]), "==", "one")


def test_a_class_that_nobody_has_lies_where_it_was_declared():
    low_high = column(["low", "high", "low"], x=["low", "middle", "high"])
    for comparison, expected in (("<", [True, False]), (">", [False, True]), ("==", [False] * 2)):
        assert compared(low_high, np.array([0, 1]), comparison, "middle").tolist() == expected


def test_dates_compare_with_text():
    days = column([dt.date(2001, 1, 1), dt.date(2020, 5, 5)])
    assert compared(days, days.values, "<", "2010-12-31").tolist() == [True, False]
    with pytest.raises(DataError, match="no date"):
        compared(days, days.values, "<", "lately")


def test_forbidden_values_are_found_when_all_else_is_known():
    columns = {"x": column([1.0, 5.0]), "g": column(["a", "b"], "g")}
    zero = (
        Condition(column="x", comparison=">", value=2),
        Condition(column="g", comparison="==", value="a"),
    )
    edits = Edits(columns, impossible=(zero,))
    x, g = np.array([1.0, 3.0, 3.0, np.nan]), np.array([0, 0, 1, 0])
    assert edits.forbidden("g", {"x": x, "g": g}).tolist() == [False, True, False, False]
    assert edits.forbidden("g", {"g": g}) is None, "x is not drawn yet"
    table = pl.DataFrame({"x": x, "g": ["a", "a", "b", "a"]})
    assert edits.impossible_rows(table).tolist() == [1]
    assert list(edits.broken(table).values()) == [1]


def test_an_indicator_must_not_contradict_a_number_that_stays():
    columns = {"x": column([0.0, 5.0]), "g": column(["a", "b"], "g")}
    edits = Edits(columns, (tacit.ZeroWhen(column="x", indicator="g", equals="a"),))
    found = edits.forbidden("g", {"x": np.array([0.0, 5.0, np.nan]), "g": np.array([0, 0, 0])})
    assert found.tolist() == [False, True, False]


def test_a_misspelt_value_is_refused():
    zero = (Condition(column="g", comparison="==", value="A"),)
    with pytest.raises(DataError, match="does not have"):
        Edits({"g": column(["a", "b"], "g")}, impossible=(zero,))
