"""Replicated uniques: unique here and unique there."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError

values = st.one_of(st.none(), st.integers(0, 3))
rows = st.lists(st.tuples(values, values), min_size=1, max_size=20)


def microdata(records):
    frame = pl.DataFrame(records, schema={"x": pl.Int64, "y": pl.Int64}, orient="row")
    return Microdata.of(frame).with_roles(keys=["x", "y"])


@given(rows, rows)
def test_equal_to_brute_force(before, after):
    found = risk.ReplicatedUniques().measure(microdata(before), microdata(after))
    expected = [before.count(r) == 1 and after.count(r) == 1 for r in before]
    assert found.per_unit.tolist() == expected
    details = found.details
    assert details["uniques_in_original"] == sum(before.count(r) == 1 for r in before) / len(before)
    assert details["uniques_in_release"] == sum(after.count(r) == 1 for r in after) / len(after)
    assert details["uniques_found_in_release"] == (
        sum(before.count(r) == 1 and r in after for r in before) / len(before)
    )


def test_identity_is_the_share_of_sample_uniques_and_a_constant_has_none():
    data = tacit.datasets.census(200)
    found = risk.ReplicatedUniques().measure(data)
    assert found.value == risk.SampleUniques().measure(data).value > 0
    assert risk.ReplicatedUniques().measure(data, data.take([0] * 200)).value == 0


def test_numbers_of_other_types_are_compared_as_numbers():
    before = Microdata.of(pl.DataFrame({"x": [1, 2, 3]})).with_roles(keys=["x"])
    after = pl.DataFrame({"x": [1.0, 2.5, 3.0]})
    assert risk.ReplicatedUniques().measure(before, after).per_unit.tolist() == [True, False, True]


def test_recoded_labels_of_a_masked_file_are_understood():
    data = tacit.datasets.census(200)
    release = tacit.Plan([mask.Recode(column="region", level=1)]).apply(data, seed=1)
    found = risk.ReplicatedUniques(keys=["region", "age"]).measure(data, release)
    assert found.value > 0


def test_bad_input():
    data = Microdata.of(pl.DataFrame({"c": ["a", "b"]})).with_roles(keys=["c"])
    with pytest.raises(DataError, match="nothing in common"):
        risk.ReplicatedUniques().measure(data, pl.DataFrame({"c": ["1", "2", "3"]}))
    with pytest.raises(DataError, match="none of the keys"):
        risk.ReplicatedUniques().measure(data, pl.DataFrame({"d": ["a", "b"]}))
    with pytest.raises(DataError, match="at least one record"):
        risk.ReplicatedUniques().measure(data, pl.DataFrame({"c": []}, schema={"c": pl.String}))
    assert risk.ReplicatedUniques().objection(Microdata.of(pl.DataFrame({"c": ["a"]})))
    two = data.frame.with_columns(d=pl.Series([1, 2]))
    with_two = Microdata.of(two).with_roles(keys=["c", "d"])
    found = risk.ReplicatedUniques().measure(with_two, pl.DataFrame({"c": ["a", "b", "b"]}))
    assert found.details["keys_removed"] == ["d"]
    assert "d" in found.warnings[0]
