"""All syntactic models at once equal the measures one by one."""

import pytest

import tacit
from tacit import mask, risk


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(800, missing=0.03)
    return data, tacit.Plan([mask.Recode(column="age", width=20)]).apply(data, seed=1)


def test_every_reading_equals_that_of_its_own_measure(release):
    keys, confidential = ["sex", "age"], ["marital", "income"]
    found = risk.SyntacticModels(keys=keys, confidential=confidential).measure(*release)
    assert found.value == risk.KAnonymity(keys=keys).measure(*release).value
    for reading in ("distinct", "entropy", "recursive"):
        each = risk.LDiversity(keys=keys, confidential=confidential, reading=reading)
        smallest = min(column[reading] for column in found.details["columns"].values())
        assert smallest == each.measure(*release).value
    close = risk.TCloseness(keys=keys, confidential=confidential).measure(*release)
    for column, readings in close.details["columns"].items():
        assert {k: found.details["columns"][column][k] for k in readings} == readings


def test_class_sizes_per_record_are_those_of_k_anonymity(release):
    found = risk.SyntacticModels(keys=["sex"], confidential=["marital"]).measure(*release)
    other = risk.KAnonymity(keys=["sex"]).measure(*release)
    assert found.per_unit.tolist() == other.per_unit.tolist()
