"""Record linkage: everybody in a file as it is, nobody in a shuffled one."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(600)


def shuffled(data):
    """Return a release whose columns have nothing to do with each other any more."""
    rng = np.random.default_rng(2)
    numbered = data.numbered()  # who is who stays known, as in a Release
    table = numbered.local
    columns = [table[c].gather(rng.permutation(len(data))).alias(c) for c in data.columns]
    return numbered.with_local(table.with_columns(columns))


@pytest.mark.parametrize("way", ["distance", "probabilistic", "rank"])
def test_a_file_as_it_is_gives_its_people_away(data, way):
    known = attack.Knowledge(columns=["age", "hours", "income", "taxes"])
    found = attack.Linkage(way=way).run((data, data), known)
    # People with equal values cannot be told apart: one over their number each.
    rows = data.local.select("age", "hours", "income", "taxes")
    expected = np.mean(1.0 / rows.with_columns(n=pl.len().over(rows.columns))["n"].to_numpy())
    assert found.success.value == pytest.approx(expected, abs=1e-9)
    assert found.leaked


@pytest.mark.parametrize("way", ["distance", "probabilistic", "rank"])
def test_a_shuffled_file_is_as_good_as_guessing(data, way):
    found = attack.Linkage(way=way).run(attack.MicrodataTarget(data, shuffled(data)))
    assert not found.leaked
    assert found.success.low <= found.baseline.value <= found.success.high


def test_scenarios_differ_in_whom_they_count(data):
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    by = {s: attack.Linkage(scenario=s).run(release).success for s in ("prosecutor", "journalist")}
    assert by["prosecutor"].n == 300
    assert by["journalist"].n == 600
    assert by["journalist"].value == pytest.approx(by["prosecutor"].value / 2, rel=0.1)
    unsure = attack.Linkage(scenario="journalist").run(release, attack.Knowledge(membership=0.5))
    assert unsure.success.value == pytest.approx(by["journalist"].value / 2)


def test_classes_of_k_are_found_with_one_in_k(data):
    release = tacit.Plan([mask.Mondrian(k=10)]).apply(data, seed=1)
    found = attack.Linkage().run(release)
    assert 1 / 40 < found.success.value <= 1 / 10


def test_synthetic_records_are_nobodys(data):
    release = tacit.Plan([mask.FullySynthetic(**mask.FullySynthetic.example)]).apply(data, seed=1)
    report = attack.audit(release, attacks=[attack.Linkage()])
    assert "linkage" in report.left_out


def test_a_plain_file_in_another_order_is_refused_and_not_called_safe(data):
    """Paired by position, a reordered file would look safe."""
    other = data.take(np.random.default_rng(0).permutation(600))
    report = attack.audit((data, other), attacks=[attack.Linkage()])
    assert "another order" in report.left_out["linkage"]


def test_averages_of_several_data_sets_are_linked(data):
    """Noise drawn anew in each of m sets is averaged away: level / sqrt(m) is left."""
    columns = ["income", "taxes"]

    def noisy(seed, level):
        step = mask.UncorrelatedNoise(columns=columns, level=level)
        return tacit.Plan([step]).apply(data, seed=seed).data

    known = attack.Knowledge(columns=columns)
    sets = [noisy(seed, 0.4) for seed in range(1, 17)]
    one = attack.Linkage().run(attack.MicrodataTarget(data, sets[0]), known)
    made = attack.MicrodataTarget(data, sets[0], copies=tuple(sets[1:]))
    many = attack.Linkage().run(made, known)
    quieter = attack.Linkage().run(attack.MicrodataTarget(data, noisy(99, 0.1)), known)
    assert many.success.value > 2 * one.success.value
    assert many.success.low <= quieter.success.value <= many.success.high
    assert many.details["data_sets"] == 16
    assert attack.OutlierHunting().run(made, known).details["data_sets"] == 16


def test_partially_synthetic_keys_are_linked_by_all_sets(data):
    step = mask.PartiallySynthetic(columns=["marital", "occupation", "age"], m=5)
    release = tacit.Plan([step]).apply(data, seed=1)
    all_sets = attack.Linkage().run(release)
    first_only = attack.Linkage().run(release.each[0])
    assert all_sets.success.value >= first_only.success.value
    assert len(attack.MicrodataTarget(data, release.data, copies=release.copies).views) == 1


def test_noise_of_another_step_is_the_same_in_every_data_set(data):
    """Drawn anew in each it would be averaged away, and the sets would tell more than one."""
    columns = ["income", "taxes"]
    steps = [
        mask.UncorrelatedNoise(columns=columns, level=0.4),
        mask.PartiallySynthetic(columns=["marital"], m=8),
    ]
    release = tacit.Plan(steps).apply(data, seed=1)
    known = attack.Knowledge(columns=columns)
    all_sets, first = (attack.Linkage().run(r, known).success for r in (release, release.each[0]))
    assert all_sets == first
    assert len({d.local["marital"].hash().sum() for d in release.data_sets}) == 8


def test_data_sets_in_another_order_are_linked_one_by_one(data):
    numbered = data.numbered()
    order = np.random.default_rng(1).permutation(600)
    made = attack.MicrodataTarget(data, numbered, copies=(numbered.take(order),))
    assert len(made.views) == 2
    alone = attack.Linkage().run(attack.MicrodataTarget(data, numbered))
    assert attack.Linkage().run(made).success.value == pytest.approx(alone.success.value)
