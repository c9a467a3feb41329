"""The family of protections: found by the table, given only what is sensitive."""

import numpy as np
import pytest

from tacit.core.errors import ProtectionError
from tacit.tables import ProtectedTable, Sensitive
from tacit.tables.protection import Protection


class HideAll(Protection):
    """Hide everything."""

    def protect(self, table, sensitive):
        hidden = np.ones(table.n_cells, dtype=bool)
        return ProtectedTable.suppressing(table, sensitive, hidden, "all", seconds=0.0)


def test_a_table_hands_over_its_sensitive_cells(small):
    done = small.declare_unsafe({"region": "S"}).protect(HideAll())
    assert done.sensitive.primary.tolist() == [small.cell(region="S")]
    assert done.suppressed.all()
    assert done.notes == {"seconds": 0.0}


def test_frozen_sensitive_cells_never_reach_a_method(small):
    found = Sensitive.by("rule", np.arange(12) == 5, 1.0)
    with pytest.raises(ProtectionError, match="must be published"):
        small.freeze(np.array([5])).protect(HideAll(), found)
