"""The hypercube method: boxes by hand, and the same guarantee as every other method."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.core.errors import ProtectionError, SchemaError
from tacit.tables import Dimension, Sensitive, SuppressHypercube, Table
from tacit.tables.suppress.hypercube import box_pattern

FAST = settings(
    max_examples=12, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


@pytest.fixture
def square(full_table):
    return full_table(
        [[10, 30, 200], [300, 60, 500], [400, 70, 90]],
        Dimension.flat("r", ["a", "b", "c"]), Dimension.flat("s", ["x", "y", "z"]),
        variable="turnover",
    )  # fmt: skip


def _box(table, level):
    one = np.arange(table.n_cells) == table.cell(r="a", s="x")
    sensitive = Sensitive.by("hand", one, level)
    hidden = box_pattern(table, sensitive, one, np.abs(table.value))
    return {table.labels(int(i)) for i in np.flatnonzero(hidden)}


def test_the_cheapest_box_by_hand(square):
    """Boxes around (a, x) cost 390 with b and y, 500 with c and y, 1000 and 690 with z."""
    assert _box(square, 1.0) == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}


def test_a_box_too_small_to_protect_is_passed_over(full_table):
    table = full_table(
        [[50, 8, 60], [60, 9, 70]],
        Dimension.flat("r", ["a", "b"]), Dimension.flat("s", ["x", "y", "z"]), variable="v",
    )  # fmt: skip
    assert ("a", "y") in _box(table, 5.0)
    assert ("a", "y") not in _box(table, 20.0)


@FAST
@given(st.integers(0, 10_000), st.sampled_from(["any", "nested", "negative"]))
def test_every_sensitive_cell_withstands_an_independent_attack(random_case, weak_cells, seed, kind):
    table, sensitive = random_case(seed, kind)
    try:
        result = SuppressHypercube().protect(table, sensitive)
    except ProtectionError:
        return
    assert weak_cells(result) == []
    assert result.suppressed[sensitive.cells].all()


def test_refuses_tables_without_dimensions(square):
    bare = Table(square.value, square.relations, variable="turnover")
    with pytest.raises(SchemaError, match="dimensions"):
        SuppressHypercube().protect(bare, Sensitive.by("hand", np.arange(16) == 5, 1.0))
