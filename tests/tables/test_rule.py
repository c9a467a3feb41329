"""Rules joined with | and &."""

from typing import ClassVar

import numpy as np
import pytest

from tacit.core.errors import ParameterError
from tacit.tables import Sensitive
from tacit.tables.rule import AllOf, AnyOf, Rule


class Above(Rule):
    """Sensitive above a value."""

    title: ClassVar[str] = "Above"

    least: float
    """The value."""

    def sensitive(self, table):
        return Sensitive.by(f"above {self.least}", table.value > self.least, self.least)


class Odd(Rule):
    """Sensitive if odd."""

    title: ClassVar[str] = "Odd"

    def sensitive(self, table):
        return Sensitive.by("odd", table.value % 2 == 1, 0.5)


def test_rules_join_flat(small):
    rule = Above(least=30) | Odd() | Above(least=100)
    assert isinstance(rule, AnyOf)
    assert len(rule.rules) == 3
    found = rule.sensitive(small)
    assert np.array_equal(found.cells, (small.value > 30) | (small.value % 2 == 1))
    assert found.above[small.cell()] == 100
    assert "Above: least = 30.0 or Odd" in rule.describe()


def test_and_binds_what_both_say(small):
    rule = Above(least=30) & Odd()
    assert isinstance(rule, AllOf)
    found = rule.sensitive(small)
    assert np.array_equal(found.cells, (small.value > 30) & (small.value % 2 == 1))
    assert "(Above: least = 30.0) and (Odd)" in rule.describe()


def test_mixed_joins_nest(small):
    rule = (Above(least=30) & Odd()) | Above(least=100)
    found = rule.sensitive(small)
    expected = ((small.value > 30) & (small.value % 2 == 1)) | (small.value > 100)
    assert np.array_equal(found.cells, expected)


def test_joined_rules_are_told_one_by_one():
    above, odd = Above(least=30), Odd()
    assert list(((above & odd) | Above(least=100)).each()) == [above, odd, Above(least=100)]
    assert list(odd.each()) == [odd]


def test_no_rules_at_all_are_refused():
    for joined in (AnyOf, AllOf):
        with pytest.raises(ParameterError, match="'rules'"):
            joined(rules=())
