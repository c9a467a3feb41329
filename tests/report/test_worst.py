"""Where the risk sits: groups and keys."""

import numpy as np
import polars as pl

import tacit
from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report._worst import FEWEST, worst

EMPTY = Scorecard((), (), {}, {})


def released(frame, keys):
    return tacit.Plan().apply(tacit.Microdata.of(frame).with_roles(keys=keys), seed=1)


def test_the_group_that_holds_the_uniques_is_named():
    n = 300
    place = ["city"] * 250 + ["island"] * 50
    age = [20 + i % 5 for i in range(250)] + [30 + i for i in range(50)]
    found = worst(released(pl.DataFrame({"place": place, "age": age}), ["place", "age"]), EMPTY)
    assert found.records == n
    assert found.alone == 50
    assert found.groups[0].name == "place: island"
    assert (found.groups[0].records, found.groups[0].alone, found.groups[0].risk) == (50, 50, 1.0)
    assert not any("place: city" in group.name for group in found.groups)


def test_no_group_is_small_and_none_repeats_another():
    data = tacit.datasets.census(800)
    found = worst(tacit.Plan().apply(data, seed=1), EMPTY)
    parts = [frozenset(group.name.split(", ")) for group in found.groups]
    assert all(group.records >= FEWEST for group in found.groups)
    assert not any(a < b for a in parts for b in parts)


def test_rare_categories_and_suspects_are_not_named():
    rng = np.random.default_rng(0)
    illness = ["Stoneman syndrome"] * 2 + list(rng.choice(["flu", "cold"], 198))
    contact = [f"someone{i % 20}@example.org" for i in range(200)]
    frame = pl.DataFrame({"illness": illness, "contact": contact, "x": range(200)})
    release = released(frame, ["illness", "contact", "x"])
    text = str(worst(release, EMPTY, suspects=["contact"]).groups)
    assert "Stoneman" not in text
    assert "example.org" not in text
    assert "example.org" in str(worst(release, EMPTY).groups) or not worst(release, EMPTY).groups


def test_ordinal_numbers_keep_their_labels():
    frame = pl.DataFrame({"level": [10] * 60 + [2] * 60, "id": [1] * 60 + list(range(60))})
    data = tacit.Microdata.of(frame).with_kinds(level="nominal").with_roles(keys=["level", "id"])
    found = worst(tacit.Plan().apply(data, seed=1), EMPTY)
    assert found.groups[0].name.startswith("level: 2")


def test_effects_of_keys_by_hand():
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 1]})
    suda = Measurement("suda", "SUDA", 0.1, "lower", details={"contribution": {"a": 0.25, "b": 1}})
    found = worst(released(frame, ["a", "b"]), Scorecard((suda,), (), {}, {}))
    assert found.alone == 2
    effects = {e.name: (e.without, e.fewer, e.suda) for e in found.effects}
    assert effects == {"a": (1, 0.5, 0.25), "b": (0, 1.0, 1)}
    assert found.effects[0].name == "b"


def test_without_keys_or_records_there_is_nothing():
    data = tacit.datasets.census(20)
    assert worst(tacit.Plan().apply(data.frame, seed=1), EMPTY) is None
    assert worst(tacit.Plan().apply(data.take(np.array([], dtype=int)), seed=1), EMPTY) is None


def test_a_safe_file_names_no_group():
    frame = pl.DataFrame({"a": ["x", "y"] * 50, "b": [1, 1, 2, 2] * 25})
    found = worst(released(frame, ["a", "b"]), EMPTY)
    assert found.groups == ()
    assert found.alone == 0
