"""Whom an intruder is after, and what that does to the risk of the file."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import risk
from tacit.core.errors import DataError, ParameterError, SchemaError

FRAME = pl.DataFrame(
    {
        "town": ["a", "a", "a", "b", "b", "c"],
        "age": [20, 30, 70, 70, None, 80],
        "pay": [10.0, 20.0, 30.0, 40.0, 50.0, None],
        "sought": [True, False, False, True, False, True],
        "nr": [3, 1, 4, 5, 9, 2],
    }
)
DATA = tacit.Microdata.of(FRAME).with_roles(keys=["town"])


def found(**scenario):
    return risk.IdentificationRisk(**scenario).measure(DATA)


def targets(**scenario):
    return np.flatnonzero(~np.isnan(found(**scenario).per_unit)).tolist()


def test_everybody_is_a_target_by_default():
    measurement = found()
    assert measurement.details["targets"] == 6
    # towns of three, two and one: 1/3 three times, 1/2 twice, 1 once
    assert measurement.value == pytest.approx((3 / 3 + 2 / 2 + 1) / 6)


def test_a_column_marks_the_targets_and_others_have_no_value():
    measurement = found(targets="sought")
    assert measurement.value == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert measurement.per_unit[[0, 3, 5]].tolist() == pytest.approx([1 / 3, 1 / 2, 1])
    assert np.isnan(measurement.per_unit[[1, 2, 4]]).all()
    assert measurement.details["expected_identifications"] == pytest.approx(11 / 6)
    assert "3 people" in measurement.explanation
    json.dumps(measurement.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"town": "a"}, [0, 1, 2]),
        ({"town": ["a", "c"]}, [0, 1, 2, 5]),
        ({"age": 70}, [2, 3]),
        ({"age": [20, "80"]}, [0, 5]),
        ({"age": {"at_least": 70}}, [2, 3, 5]),
        ({"age": {"at_least": 25, "at_most": 75}}, [1, 2, 3]),
        ({"age": {"at_most": 20}, "town": ["a", "b"]}, [0]),
        ({"pay": 30}, [2]),
        ({"sought": True}, [0, 3, 5]),
    ],
)
def test_conditions_on_values_hold_together_and_missing_values_satisfy_none(where, expected):
    assert targets(where=where) == expected


def test_a_share_of_the_most_prominent_units():
    assert targets(target_share=0.34, largest="pay") == [3, 4], "a missing value is not large"
    assert targets(target_share=0.5, largest="pay", where={"town": ["a", "b"]}) == [3, 4]
    assert targets(target_share=1e-9, largest="age") == [5], "at least one"


def test_a_random_share_follows_the_seed():
    draws = {tuple(targets(target_share=0.5, seed=seed)) for seed in range(20)}
    assert all(len(draw) == 3 for draw in draws)
    assert len(draws) > 5
    assert targets(target_share=0.5, seed=3) == targets(target_share=0.5, seed=3)


def test_the_value_of_a_target_does_not_depend_on_who_else_is_sought():
    everybody = found().per_unit
    for where in ({"town": "b"}, {"age": {"at_least": 60}}):
        some = found(where=where).per_unit
        sought = ~np.isnan(some)
        assert np.array_equal(some[sought], everybody[sought])


def test_records_are_paired_by_a_number():
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=4)
    with pytest.raises(DataError, match="record_id"):
        risk.IdentificationRisk().measure(DATA, shuffled)
    by_number = risk.IdentificationRisk(record_id="nr")
    assert by_number.measure(DATA, shuffled).per_unit.tolist() == found().per_unit.tolist()
    part = by_number.measure(DATA, FRAME[[5, 0]])
    assert part.details["real"] == 2
    assert np.all(part.per_unit[[1, 2, 3, 4]] == 0)


@pytest.mark.parametrize(
    ("scenario", "error", "message"),
    [
        ({"where": {"town": "z"}}, DataError, "no original record is a target"),
        ({"where": {"towm": "a"}}, SchemaError, "no column 'towm'"),
        ({"where": {"town": {"at_least": 3}}}, SchemaError, "town"),
        ({"targets": "age"}, DataError, "true or false"),
        ({"largest": "pay"}, ParameterError, "target_share"),
        ({"target_share": 0.5, "largest": "town"}, SchemaError, "town"),
    ],
)
def test_scenarios_that_make_no_sense_are_refused(scenario, error, message):
    with pytest.raises(error, match=message):
        found(**scenario)


@pytest.mark.parametrize("wrong", [{"target_share": 0}, {"where": {"age": {}}}, {"seed": -1}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        risk.IdentificationRisk(**wrong)


def test_a_scenario_survives_plain_data():
    scenario = risk.IdentificationRisk(
        where={"age": {"at_least": 65}, "town": ["a", "b"]}, target_share=0.1, largest="pay"
    )
    assert risk.IdentificationRisk(**scenario.as_dict()) == scenario
