"""Trackers: exact without guards and against sizes alone, guessing against the default."""

import pytest

from tacit import attack
from tacit.query import Differencing, Policy, SetSize


@pytest.mark.parametrize("variant", ["individual", "general"])
def test_without_guards_every_secret_is_named(behind, variant):
    found = attack.Tracker(variant=variant, most=30).run(behind(Policy(name="open")))
    assert (found.success.value, found.success.n) == (1.0, 30)
    assert found.leaked


def test_control_of_sizes_alone_does_not_stop_the_general_one(behind):
    sizes = Policy(name="sizes", guards=(SetSize(minimum=100),))
    assert attack.Tracker(variant="general", most=20).run(behind(sizes)).success.value == 1.0


@pytest.mark.parametrize("variant", ["individual", "general"])
def test_the_default_policy_leaves_guessing(behind, strict, variant):
    assert not attack.Tracker(variant=variant).run(behind(strict)).leaked


def test_the_one_rule_that_must_hold_alone_answers_and_holds(behind):
    found = attack.Tracker().run(behind(Policy(name="one", guards=(Differencing(minimum=5),))))
    assert found.details["refused"] < found.details["requests"]
    assert not found.leaked


def test_a_limit_of_requests_is_kept(behind):
    found = attack.Tracker().run(behind(Policy(name="open")), attack.Knowledge(queries=10))
    assert found.details["requests"] == 10
