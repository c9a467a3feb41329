"""The ten published patients and the synthetic ones."""

import polars as pl
import pytest

from tacit.datasets import patients


def test_table_a1_as_printed():
    frame = patients().frame
    assert frame.columns == ["Name", "SSN", "Age", "State", "Diagnosis", "Income", "Billing"]
    assert frame.height == 10
    assert frame.row(0) == ("John Wayne", "123456789", 44, "MI", "AIDS", 45500, 1200)
    assert frame.row(6) == ("Angela Simms", "777777777", 25, "IN", "Diabetes", 49000, 1200)
    assert frame.row(9) == ("Sam Pall", "100000000", 45, "MI", "Tuberculosis", 34000, 3100)
    assert frame["Income"].sum() == 527_400
    assert frame["Billing"].sum() == 20_050
    assert frame["Age"].to_list() == [44, 44, 55, 44, 55, 45, 25, 35, 55, 45]


def test_table_a1_agrees_with_the_paper(shared_data):
    text = next((shared_data.parent / "seeds").glob("001_*.txt")).read_text(encoding="utf-8")
    printed = {
        line.split("\t")[1]: line.split("\t") for line in text.splitlines() if line.count("\t") == 6
    }
    for row in patients().frame.rows():
        assert [str(v) for v in row] == [v.replace(",", "") for v in printed[row[1]]]


def test_roles_of_the_paper():
    schema = patients().schema
    assert schema.identifiers == ["Name", "SSN"]
    assert schema.keys == ["Age", "State"]
    assert schema.confidential == ["Diagnosis", "Income", "Billing"]


@pytest.fixture(scope="module")
def many():
    return patients(20_000)


def test_larger_files_have_the_same_columns_and_roles_and_more(many):
    small = patients()
    assert set(small.columns) < set(many.columns)
    assert many.schema.identifiers == small.schema.identifiers
    assert many.schema.confidential == small.schema.confidential
    assert set(small.schema.keys) < set(many.schema.keys)
    for name in small.columns:
        assert many.frame.schema[name] == small.frame.schema[name]


def test_social_security_numbers_are_distinct_and_impossible(many):
    ssn = many.frame["SSN"]
    assert ssn.n_unique() == len(ssn)
    assert ssn.str.contains(r"^9\d{8}$").all()


def test_diagnosis_depends_on_age_and_sex(many):
    age = {d: many.frame.filter(Diagnosis=d)["Age"].mean() for d in ("Influenza", "Heart disease")}
    assert age["Heart disease"] > age["Influenza"] + 15
    pregnant = many.frame.filter(Diagnosis="Pregnancy")
    assert set(pregnant["Sex"]) == {"F"}
    assert pregnant["Age"].is_between(14, 47).all()


def test_bill_depends_on_diagnosis_and_income_on_age(many):
    bills = dict(many.frame.group_by("Diagnosis").agg(pl.col("Billing").median()).rows())
    assert bills["Cancer"] > 10 * bills["Influenza"]
    assert (many.frame.filter(pl.col("Age") < 16)["Income"] == 0).all()
    assert many.frame["Income"].mean() > many.frame["Income"].median()


def test_zip_codes_lie_in_one_state(many):
    states = many.frame.group_by(pl.col("Zip").str.slice(0, 2)).agg(pl.col("State").n_unique())
    assert set(states["State"]) == {1}
    assert many.frame["Zip"].str.len_chars().eq(5).all()


def test_names_hold_letters_beyond_ascii(many):
    assert many.frame["Name"].str.contains("[^ -~]").any()
