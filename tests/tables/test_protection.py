"""The family of protections: found by the table, given only what is sensitive."""

import numpy as np
import pytest
from tests.tables.publishing import records

from tacit import tables
from tacit.core.errors import ProtectionError, TacitError
from tacit.core.method import methods
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


def test_methods_say_whether_they_need_record_keys():
    wanting = set()
    for value in (None, "turnover"):
        plan = tables.TablePlan(by=[["region"]], value=value, method=HideAll())
        table = plan.tabulate(records())
        for method in methods("protection"):
            try:
                table.protect(method(**method.example), tables.MinFrequency(n=3))
            except TacitError as error:
                wanting |= {method.key} if "record keys" in str(error) else set()
    assert wanting == {method.key for method in methods("protection") if method.keyed}


def test_methods_say_whether_they_look_at_costs():
    assert tables.SuppressModular(cost="user").heeds_costs
    assert not tables.SuppressModular().heeds_costs
    assert tables.ControlledAdjustment(weights="user").heeds_costs
