"""Dinur-Nissim: nearly all bits without protection or with small noise, chance by default."""

import pytest

from tacit import attack
from tacit.query import CellKeyNoise, Policy


def test_an_unprotected_server_gives_all_bits(behind):
    found = attack.LinearReconstruction().run(behind(Policy(name="open")))
    assert found.success.value > 0.95
    assert found.leaked


def test_small_noise_does_not_stop_it(behind):
    """Noise of variance 5 is below the square root of n = 120."""
    noise = Policy(name="noise", guards=(CellKeyNoise(max_change=8, variance=5.0),))
    assert attack.LinearReconstruction().run(behind(noise)).success.value > 0.95


def test_the_default_policy_leaves_chance(behind, strict):
    found = attack.LinearReconstruction().run(behind(strict))
    assert not found.leaked
    assert found.warnings  # nothing was answered, and the finding says so


def test_facts_about_everybody_are_enough_without_protection(behind):
    """1 + 20 + 190 independent counts settle 120 bits, all sets being whole categories."""
    found = attack.LinearReconstruction(through="facts").run(behind(Policy(name="open")))
    assert found.title.endswith("through facts")
    assert found.success.value > 0.95
    assert found.leaked


@pytest.mark.parametrize("n", [400, 1000])
def test_where_the_default_policy_answers_it_leaves_chance_within_its_budget(behind, n):
    """With its limit of requests and its ledger: some tables are told, the bits are not."""
    target = behind(Policy.named("strict"))
    found = attack.LinearReconstruction(through="facts", n=n).run(target)
    assert found.details["answers"] > 0
    assert not found.warnings
    assert not found.leaked
    assert found.success.low <= found.baseline.value


def test_an_audit_tries_both_ways():
    """A server that refuses names may answer about facts: passing one way says little."""
    assert {way.through for way in attack.LinearReconstruction.in_audit()} == {"people", "facts"}


def test_few_queries_do_not_suffice(behind):
    known = attack.Knowledge(queries=20)
    assert not attack.LinearReconstruction().run(behind(Policy(name="open")), known).leaked
