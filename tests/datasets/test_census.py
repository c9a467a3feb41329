"""Persons in households."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import ParameterError
from tacit.core.schema import Kind
from tacit.datasets import census

COLUMNS = ["person_id", "household", "region", "sex", "age", "education", "marital", "occupation",
           "employed", "hours", "income", "taxes", "weight"]  # fmt: skip
KEYS = ["region", "sex", "age", "education", "marital"]


@pytest.fixture(scope="module")
def data():
    return census(20_000)


def test_columns_roles_and_kinds(data):
    schema = data.schema
    assert data.columns == COLUMNS
    assert schema.identifiers == ["person_id"]
    assert schema.keys == KEYS
    assert schema.confidential == ["income", "taxes"]
    assert (schema.weight, schema.household) == ("weight", "household")
    assert schema["education"].kind == Kind.ORDINAL
    assert schema["age"].kind == schema["income"].kind == schema["hours"].kind == Kind.NUMERIC
    assert schema["region"].kind == Kind.NOMINAL
    assert schema["region"].hierarchy.n_levels == 4


def test_types(data):
    types = data.frame.schema
    assert types["person_id"] == pl.String
    assert types["household"] == types["age"] == types["hours"] == pl.Int64
    assert types["employed"] == pl.Boolean
    assert types["income"] == types["taxes"] == types["weight"] == pl.Float64


def test_people_of_a_household_share_region_and_weight(data):
    shared = data.frame.group_by("household").agg(pl.col("region", "weight").n_unique(), pl.len())
    assert shared["region"].max() == shared["weight"].max() == 1
    assert shared["len"].is_between(1, 6).all()
    assert 1.9 < shared["len"].mean() < 2.7
    assert data.frame["person_id"].n_unique() == data.n_records


def test_ages_are_those_of_people(data):
    assert data.frame["age"].is_between(0, 99).all()
    heads = data.frame.group_by("household").agg(pl.col("age").max())
    assert (heads["age"] >= 18).all()


def test_children_are_unmarried_and_without_income(data):
    children = data.frame.filter(pl.col("age") < 15)
    assert len(children) > 1000
    assert set(children["marital"]) == {"never married"}
    assert (children["income"] == 0).all()
    assert not children["employed"].any()


def test_income_is_skewed_with_zeros_and_rises_with_education(data):
    income = data.frame["income"]
    assert 0.3 < (income == 0).mean() < 0.7
    working = data.frame.filter("employed")
    assert (working["income"] > 0).all()
    assert working["income"].mean() > 1.1 * working["income"].median()
    assert working["income"].skew() > 3
    by_education = dict(working.group_by("education").agg(pl.col("income").median()).rows())
    assert by_education["master"] > 1.5 * by_education["lower secondary"]


def test_taxes_follow_income(data):
    assert (data.frame["taxes"] <= data.frame["income"]).all()
    assert np.corrcoef(data.frame["taxes"], data.frame["income"])[0, 1] > 0.8


def test_weights_are_positive_and_differ_between_regions(data):
    assert data.weights.min() > 0
    by_region = dict(
        data.frame.group_by(pl.col("region").str.slice(0, 1)).agg(pl.col("weight").mean()).rows()
    )
    assert by_region["N"] > 2 * by_region["I"]


def test_occupation_names_work(data):
    idle = data.frame.filter(pl.col("occupation") == "not employed")
    assert not idle["employed"].any()
    assert len(idle) == (~data.frame["employed"]).sum()


def test_missing_values_on_request():
    data = census(20_000, missing=0.05)
    for column in COLUMNS:
        share = data.frame[column].null_count() / 20_000
        expected = 0.05 if column in [*KEYS, "income"] else 0.0
        assert share == pytest.approx(expected, abs=0.01)
    assert not any(data.broken_constraints().values())


def test_everything_can_be_missing():
    data = census(50, missing=1.0)
    assert all(data.frame[c].null_count() == 50 for c in [*KEYS, "income"])
    assert data.frame.schema == census(50).frame.schema


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), "0.1", None, True])
def test_bad_share_of_missing_values_is_refused(bad):
    with pytest.raises(ParameterError, match="missing must be a share"):
        census(10, missing=bad)
