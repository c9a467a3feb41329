"""Confidential numbers that leave as they were, and their blurring."""

import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.tradeoff import Effort, Target, wizard
from tacit.tradeoff.exposed_numbers import blurred, exposed


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.patients(300)


@pytest.fixture(scope="module")
def release(data):
    return tacit.Plan([mask.Recode(column="Age", width=20)]).apply(data, seed=1)


def test_only_confidential_columns_that_did_not_change_are_exposed(release, data):
    assert exposed(release) == ["Diagnosis", "Income", "Billing"]
    noisy = tacit.Plan([mask.Round(columns=["Income"], base=500)]).apply(data, seed=1)
    assert exposed(noisy) == ["Diagnosis", "Billing"]


def test_no_amount_is_shared_by_fewer_than_three(release):
    """The attack: look for an amount that only one or two records have."""
    changed = blurred(release, ())
    assert exposed(changed) == ["Diagnosis"]
    before, after = (one.local["Income"] for one in (release.original, changed.data))
    assert before.value_counts()["count"].min() < 3
    assert after.value_counts()["count"].min() >= 3
    assert after.mean() == pytest.approx(before.mean(), rel=1e-3)
    assert changed.frame["Age"].equals(release.frame["Age"])


def test_a_release_that_would_miss_the_target_stays(release):
    impossible = Target.of("k >= 200").conditions(release.original)
    assert blurred(release, impossible) is release


def test_nothing_exposed_and_too_few_records_stay():
    few = tacit.Microdata.of(pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    made = tacit.Plan([]).apply(few.with_roles(keys=["a"], confidential=["b"]), seed=1)
    assert blurred(made, ()) is made


def test_the_wizard_writes_the_plan_of_what_it_releases(data, tmp_path):
    effort = Effort(evaluations=3, replicates=1, workers=1)
    outcome = wizard(data, "k >= 3", blur=True, effort=effort, seed=1)
    folder = outcome.save(tmp_path / "out")
    for choice in outcome.choices:
        assert exposed(choice.release) == ["Diagnosis"]
        plan = tacit.Plan.load(folder / "plans" / f"{choice.name}.toml")
        assert plan == choice.release.plan
        assert any(isinstance(step, mask.IndividualRanking) for step in plan)
