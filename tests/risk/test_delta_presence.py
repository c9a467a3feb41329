"""Delta-presence: how sure an intruder can be that somebody is in the file."""

import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError


def test_presence_by_hand():
    before = pl.DataFrame({"k": ["a"] * 4 + ["b"] * 2})
    after = pl.DataFrame({"k": ["a", "b", "b"]})
    found = risk.DeltaPresence(keys=["k"]).measure(before, after)
    assert found.value == 1.0
    assert found.details["smallest"] == 0.25
    assert found.per_unit.tolist() == [0.25, 1.0, 1.0]


def test_a_whole_file_is_certain_and_a_small_sample_is_not():
    data = tacit.datasets.census(2000)
    measure = risk.DeltaPresence(keys=["sex", "marital"])
    assert measure.measure(data).value == 1.0
    small = tacit.Plan([mask.Sample(fraction=0.05)]).apply(data, seed=1)
    half = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    assert measure.measure(data, small).value < measure.measure(data, half).value < 1.0


def test_changed_keys_are_counted_apart():
    before = pl.DataFrame({"k": ["a", "b", "b"]})
    found = risk.DeltaPresence(keys=["k"]).measure(before, pl.DataFrame({"k": ["a", "b", "z"]}))
    assert found.details["combinations_not_in_the_original"] == 1


def test_an_empty_file_is_refused():
    with pytest.raises(DataError, match="at least one record"):
        risk.DeltaPresence(keys=["k"]).measure(
            pl.DataFrame({"k": ["a"]}), pl.DataFrame({"k": []}, schema={"k": pl.String})
        )


def test_whole_numbers_and_the_same_floating_ones_are_equal():
    table = pl.DataFrame({"age": [20, 30, 30, 40]})
    presence = risk.DeltaPresence(keys=["age"])
    assert presence.measure(table, table.cast(pl.Float64)).value == 1.0
