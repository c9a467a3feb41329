"""Membership: copies tell who was in, fresh records of the same population do not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask


@pytest.fixture(scope="module")
def people():
    everybody = tacit.datasets.census(1200)
    return [everybody.take(np.arange(k, k + 400)) for k in (0, 400, 800)]


def test_copies_tell_who_was_in(people):
    inside, outside, _ = people
    found = attack.Membership().run((inside, inside), attack.Knowledge(holdout=outside))
    # Every member lies at distance 0; of the others those who equal a member do so too.
    names = ["region", "sex", "age", "education", "marital", "occupation", "employed", "hours",
             "income", "taxes"]  # fmt: skip
    twins = outside.local.join(inside.local.select(names).unique(), on=names, how="semi").height
    assert found.success.value == pytest.approx(1 - twins / 800)
    assert found.leaked


def test_records_of_other_people_do_not(people):
    inside, outside, others = people
    found = attack.Membership().run((inside, others), attack.Knowledge(holdout=outside))
    assert not found.leaked
    assert found.success.low < 0.5 < found.success.high


def test_a_sample_has_its_own_control(people):
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(people[0], seed=1)
    assert attack.Membership().run(release).leaked


def test_without_a_control_there_is_no_attack(people):
    report = attack.audit((people[0], people[0]), attacks=[attack.Membership()])
    assert "nobody outside" in report.left_out["membership"]


def test_five_data_sets_tell_more_than_one(people):
    """Each set holds a third of the members as they are, and others of the population."""
    inside, outside, others = people
    rng = np.random.default_rng(5)

    def drawn():
        copied = rng.permutation(400)[:130]
        rows = pl.concat([inside.local[copied], others.local[rng.permutation(400)[:270]]])
        return tacit.Microdata.of(rows).with_schema(inside.schema)

    sets = [drawn() for _ in range(5)]
    known = attack.Knowledge(holdout=outside)
    one, five = (
        attack.Membership().run(
            attack.MicrodataTarget(inside, sets[0], copies=tuple(sets[1:m])), known
        )
        for m in (1, 5)
    )
    assert five.success.value > one.success.value + 0.05
    assert five.leaked
    assert five.details["data_sets"] == 5
    assert five.details["copies"] > one.details["copies"]
