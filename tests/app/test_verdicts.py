"""One verdict on a masked version."""

import polars as pl
import pytest

import tacit
from tacit.app.verdicts import is_safe, sentence, standing, verdict

TARGET = "k >= 2; at most 50 % linkable"


@pytest.fixture(scope="module")
def original():
    frame = pl.DataFrame(
        {"age": [20, 21, 30, 31], "income": [1.5, 2.5, 3.5, 4.5], "town": ["a", "a", "b", "b"]}
    )
    return tacit.read(frame).with_roles(keys=["age", "town"], confidential=["income"])


def test_a_release_below_a_threshold_is_not_safe(original):
    found = verdict(tacit.Plan([]).apply(original, seed=1), TARGET)
    assert not found["met"]
    assert [c["met"] for c in found["conditions"]] == [False, False]
    assert [c["found"] for c in found["conditions"]] == ["1", "100 %"]
    assert not is_safe({"verdict": found})
    assert sentence({"verdict": found}).startswith("Not safe enough; missed: every record shares")


def test_a_release_within_the_thresholds_is_safe_unless_an_attack_gets_through(original):
    plan = tacit.Plan([{"method": "individual-ranking", "columns": ["age"], "k": 2}])
    found = verdict(plan.apply(original, seed=1), TARGET)
    assert found["met"], found
    assert is_safe({"verdict": found})
    assert "if attacks find nothing" in sentence({"verdict": found})
    ran = {"findings": [{"attack": "linkage"}]}
    assert is_safe({"verdict": found, "attack": {"passed": True, **ran}})
    broken = {"verdict": found, "attack": {"passed": False, **ran}}
    none_applied = {"verdict": found, "attack": {"passed": False, "findings": []}}
    assert "if attacks find nothing" in sentence(none_applied)
    assert not is_safe(broken)
    assert sentence(broken).startswith("Not safe enough; missed: no attack learns")


def test_without_keys_or_with_an_unknown_target_there_is_no_verdict(original):
    keyless = tacit.Plan([]).apply(original.with_roles(keys=[]), seed=1)
    for release, target in ((keyless, TARGET), (keyless, "be nice")):
        found = verdict(release, target)
        assert found["met"] is None
        assert not is_safe({"verdict": found})
        assert sentence({"verdict": found}).startswith("No verdict")
    assert sentence({}).startswith("No verdict")


def test_what_is_exposed_and_what_lost_its_whole_numbers_is_named(original):
    plan = [{"method": "individual-ranking", "columns": ["age"], "k": 2}]
    assert standing(tacit.Plan(plan).apply(original, seed=1)) == {
        "unchanged": ["income", "town"], "exposed": ["income"], "broken_up": ["age"],
    }  # fmt: skip
    rounded = [*plan, {"method": "round", "columns": ["age"], "base": 1}]
    assert standing(tacit.Plan(rounded).apply(original, seed=1))["broken_up"] == []
