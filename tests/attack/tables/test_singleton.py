"""Singletons: one respondent fills in the own cell; protection that reckons with it holds."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit import attack
from tacit.tables import ProtectedTable, Sensitive, Table


def made(hidden):
    """A total of four cells, the second with one respondent; the first is sensitive."""
    table = Table(
        np.array([100.0, 10, 20, 30, 40]), csr_array([[-1.0, 1, 1, 1, 1]]),
        count=np.array([12, 2, 1, 5, 4]),
    )  # fmt: skip
    sensitive = Sensitive.by("small", np.array([False, True, False, False, False]), above=2.0)
    return ProtectedTable.suppressing(table, sensitive, np.array(hidden), "")


def test_a_singleton_works_out_the_other_cell():
    found = attack.SingletonAttack().run(made([False, True, True, False, False]))
    assert (found.success.value, found.baseline.value) == (1.0, 0.0)
    assert found.leaked


@pytest.mark.parametrize("hidden", [[0, 1, 1, 1, 0], [0, 1, 0, 1, 1]])
def test_a_third_cell_stops_it(hidden):
    found = attack.SingletonAttack().run(made(np.array(hidden, dtype=bool)))
    assert found.success.value == 0.0
    assert not found.leaked


def test_outsiders_are_not_asked():
    report = attack.audit(
        made([False, True, True, False, False]), attack.Knowledge(respondent=False)
    )
    assert "no respondent" in report.left_out["table-singleton"]
