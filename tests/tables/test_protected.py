"""What is published of each cell, and why."""

import numpy as np
import pytest

from tacit.core.errors import SchemaError
from tacit.tables import ProtectedTable, Sensitive, Status


@pytest.fixture
def hidden(small):
    """The small table with a primary, a forced and a secondary cell."""
    table = small.force(np.array([6])).freeze(np.array([0])).waive(np.array([7]))
    sensitive = Sensitive.by("rule", np.arange(12) == 5, 1.0)
    return ProtectedTable.suppressing(
        table, sensitive, np.isin(np.arange(12), [5, 6, 9]), "by hand"
    )


def test_status_of_each_cell(hidden):
    status = dict(enumerate(hidden.status))
    assert status[5] == Status.PRIMARY
    assert status[6] == Status.FORCED
    assert status[9] == Status.SECONDARY
    assert status[0] == Status.FROZEN
    assert status[7] == Status.WAIVED
    assert status[1] == Status.SAFE
    assert not hidden.changed.any()


def test_suppressed_values_are_nowhere_in_the_frame(hidden):
    assert hidden.frame["turnover"].null_count() == 3
    assert hidden.frame["status"].to_list().count("secondary") == 1
    for cell in (5, 6, 9):
        assert hidden.frame["turnover"][cell] is None
    assert "published" not in hidden.frame.columns


def test_changed_values_are_marked(small):
    published = small.value.copy()
    published[3] += 1
    done = ProtectedTable(small, Sensitive.none(12), published)
    assert done.status[3] == Status.CHANGED
    assert done.frame["turnover"][3] == published[3]


def test_empty_cells_are_marked(small):
    done = ProtectedTable(small.replace(count=np.arange(12)), Sensitive.none(12), small.value)
    assert done.status[0] == Status.EMPTY


def test_one_value_per_cell(small):
    with pytest.raises(SchemaError, match="one published value per cell"):
        ProtectedTable(small, Sensitive.none(12), np.zeros(3))


def test_a_protected_table_is_shown_in_a_line(hidden):
    shown = repr(hidden)
    assert "12 cells" in shown
    assert "primary" in shown
    assert "array" not in shown
    assert len(shown) < 300


def test_what_is_published_cannot_be_changed_after_its_check(small):
    published = small.value.copy()
    made = ProtectedTable(small, Sensitive.none(12), published)
    with pytest.raises(ValueError, match="read-only"):
        made.published[3] = 7
    published[3] = 7  # the array it was made from stays its owner's
