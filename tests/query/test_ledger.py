"""Draws are counted by atom and statistic."""

import numpy as np

from tacit.query.ledger import Ledger


def test_draws():
    ledger = Ledger(3)
    ledger.add("count", np.array([1, 2, 0]))
    ledger.add("count", np.array([1, 0, 0]))
    assert ledger.of("count").tolist() == [2, 2, 0]
    assert ledger.of("income").tolist() == [0, 0, 0]
    assert ledger.most("count", np.array([False, False, True])) == 0
    assert ledger.most("count", np.zeros(3, bool)) == 0
