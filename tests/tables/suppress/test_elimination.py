"""Elimination: no sensitive cell is a combination of published ones; checked by ranks."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.core.errors import ParameterError, ProtectionError
from tacit.tables import Sensitive, SuppressElimination

FAST = settings(
    max_examples=15, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
EXACT = SuppressElimination(intervals=False)


def _calculable(result):
    """Sensitive cells that follow from published ones: a column independent of the other hidden."""
    columns = result.original.relations.toarray()[:, result.suppressed]
    at = np.flatnonzero(result.suppressed)
    rank = np.linalg.matrix_rank(columns) if columns.size else 0
    return [
        int(cell)
        for k, cell in enumerate(at)
        if result.sensitive.cells[cell]
        and np.linalg.matrix_rank(np.delete(columns, k, axis=1)) < rank
    ]


@FAST
@given(st.integers(0, 10_000), st.sampled_from(["any", "nested", "negative", "linked"]))
def test_no_sensitive_cell_can_be_calculated(random_case, seed, kind):
    table, sensitive = random_case(seed, kind)
    result = EXACT.protect(table, sensitive)
    assert result.suppressed[sensitive.cells].all()
    assert _calculable(result) == []


@FAST
@given(st.integers(0, 10_000), st.sampled_from(["any", "linked"]))
def test_with_intervals_every_level_holds(random_case, weak_cells, seed, kind):
    table, sensitive = random_case(seed, kind)
    try:
        result = SuppressElimination().protect(table, sensitive)
    except ProtectionError:
        return
    assert weak_cells(result) == []


def test_the_dearest_cell_of_a_circuit_is_as_cheap_as_can_be(small):
    """Around (N, 3) = 10 the boxes are 20 8 22 and 50 19 22: the first has the cheaper cells."""
    sensitive = Sensitive.by("hand", np.arange(12) == small.cell(region="N", size="3"), 0.0)
    hidden = EXACT.protect(small, sensitive).suppressed
    names = {small.labels(int(i)) for i in np.flatnonzero(hidden)}
    assert names == {("N", "3"), ("N", "1"), ("S", "1"), ("S", "3")}


def test_cells_that_follow_from_frozen_ones_are_named(small):
    cell = small.cell(region="N", size="3")
    frozen = small.replace(frozen=np.arange(12) != cell)
    with pytest.raises(ProtectionError, match=r"\(N, 3\)"):
        EXACT.protect(frozen, Sensitive.by("hand", np.arange(12) == cell, 0.0))


def test_single_respondents_need_intervals(small):
    with pytest.raises(ParameterError, match="intervals"):
        SuppressElimination(intervals=False, singletons=True).protect(
            small, Sensitive.by("hand", np.arange(12) == 5, 0.0)
        )


def test_the_result_says_what_it_does_not_promise(small):
    result = EXACT.protect(small, Sensitive.by("hand", np.arange(12) == 5, 0.0))
    assert result.notes["exact_only"] is True
