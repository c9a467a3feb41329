"""Edit rules on coded columns."""

import numpy as np
import pytest

import tacit
from tacit.core.errors import DataError, ParameterError
from tacit.mask.synthesis.edits import Edits, IfThen, arranged, compared

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
