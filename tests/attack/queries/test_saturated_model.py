"""Saturated models: cell means of single units, refused by the default policy."""

import pytest

import tacit
from tacit import attack
from tacit.query import Policy


@pytest.fixture(scope="module")
def firms():
    return tacit.datasets.establishments(2000)


def test_without_rules_units_alone_are_read_off(firms):
    found = attack.SaturatedModel(response="turnover").run((firms, Policy(name="open")))
    assert found.success.value == 1.0
    assert found.leaked


def test_default_policy(firms, strict):
    found = attack.SaturatedModel(response="turnover").run((firms, strict))
    assert found.success.value <= found.baseline.value
    assert not found.leaked
