"""What a step changed, counted by column."""

import polars as pl

import tacit
from tacit import mask


def plan(*methods):
    return tacit.Plan(methods)


def test_changed_values_are_counted_for_each_step():
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0, 10.0], "y": ["a", "b", "c", "d"]})
    release = plan(
        mask.Round(columns=["x"], base=10), mask.Recode(column="y", mapping={"a": "b"})
    ).apply(table, seed=1)
    assert [dict(step.changed) for step in release.steps] == [{"x": 3}, {"y": 1}]


def test_a_sample_changes_no_value_and_types_alone_do_not_count():
    table = pl.DataFrame({"x": list(range(20)), "same": [4] * 20})
    release = plan(mask.Sample(fraction=0.5), mask.Mdav(columns=["same"], k=2)).apply(table, seed=1)
    assert [dict(step.changed) for step in release.steps] == [{}, {}]


def test_gaps_count_once_and_recoded_numbers_count_all():
    table = pl.DataFrame({"x": [1, 5, None, 9], "k": ["a", "a", "a", "b"]})
    suppression = mask.LocalSuppression(keys=["k"], k=2, missing="wildcard")
    release = plan(mask.Recode(column="x", width=5), suppression).apply(table, seed=1)
    assert dict(release.steps[0].changed) == {"x": 3}
    assert dict(release.steps[1].changed) == {"k": 1}


def test_reordered_and_simulated_records_are_matched_by_their_numbers():
    data = tacit.datasets.census(300)
    release = plan(mask.RandomOrder(), mask.SimulatedRecords(share=0.1)).apply(data, seed=1)
    assert dict(release.steps[1].changed) == {}
    assert set(release.steps[2].changed) <= {"weight", "household"}
