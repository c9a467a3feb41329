"""Attacks as conditions: what a wizard offers withstands them, checked by the attack itself."""

import pytest

import tacit
from tacit import attack, mask, tradeoff
from tacit.core.errors import ParameterError, UnknownMethodError
from tacit.tradeoff.attack_gain import AttackGain, attack_conditions

FEW = tradeoff.Effort(evaluations=6, replicates=1, workers=1)


@pytest.fixture(scope="module")
def people():
    return tacit.datasets.patients(200)


def test_the_gain_is_that_of_the_attack(people):
    release = tacit.Plan([]).apply(people, seed=1)
    found = AttackGain(step={"method": "linkage"}).measure(people, release)
    assert found.value == attack.Linkage().run(release).gain > 0.5
    assert found.better == "lower"


def test_a_key_alone_stands_for_the_best_way_of_the_attack():
    """Swapped records are found by weight where distance finds few; given ways are kept to."""
    data = tacit.datasets.census(600)
    release = tacit.Plan([mask.RecordSwap(**mask.RecordSwap.example)]).apply(data, seed=1)
    best = AttackGain(step={"method": "linkage"}).measure(data, release).value
    by = {
        way: AttackGain(step={"method": "linkage", "way": way}).measure(data, release).value
        for way in ("distance", "probabilistic")
    }
    assert best == by["probabilistic"] > by["distance"]


def test_records_of_nobody_gain_nothing(people):
    synthetic = mask.FullySynthetic(**mask.FullySynthetic.example)
    data = tacit.datasets.census(200)
    release = tacit.Plan([synthetic]).apply(data, seed=1)
    found = AttackGain(step={"method": "linkage"}).measure(data, release)
    assert found.value == 0.0
    assert "makes no sense" in found.explanation


def test_what_the_wizard_offers_withstands_the_attack(people):
    def offered(**options):
        outcome = tradeoff.wizard(people, "k >= 2", effort=FEW, seed=1, **options)
        return {c.name: attack.Linkage().run(c.release).gain for c in outcome.choices}

    free = offered()
    assert max(free.values()) > 0.1, "k = 2 alone leaves more to learn"
    bound = offered(attacks=["linkage"], max_success_over_baseline=0.1)
    assert bound
    assert max(bound.values()) <= 0.1


def test_a_search_takes_attacks_as_well(people):
    mondrian = tradeoff.Varied(mask.Mondrian, k=tradeoff.Between(2, 20))
    front = tradeoff.search(
        people, [mondrian], budget=FEW, seed=1,
        attacks=[attack.Linkage()], max_success_over_baseline=0.1,
    )  # fmt: skip
    for point in front.points:
        assert attack.Linkage().run(front.release(point)).gain <= 0.1


def test_bad_demands_are_refused():
    with pytest.raises(UnknownMethodError, match="linkag"):
        attack_conditions(["linkag"], 0.05)
    with pytest.raises(ParameterError, match="attacks on records"):
        attack_conditions([attack.Tracker()], 0.05)
    with pytest.raises(ParameterError, match="below 1"):
        attack_conditions(["linkage"], 5)
