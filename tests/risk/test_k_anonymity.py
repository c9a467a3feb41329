"""k-anonymity: the smallest class, in both readings of missing values."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError, ParameterError, SchemaError


def microdata(**columns):
    keys = [c for c in columns if c not in ("w", "money")]
    data = Microdata.of(pl.DataFrame(columns, strict=False)).with_roles(keys=keys)
    return data.with_roles(weight="w") if "w" in columns else data


def test_patients_have_two_records_alone_with_their_keys():
    found = risk.KAnonymity().measure(tacit.datasets.patients())
    # Age and State of Table A.1: 44 MI x3, 55 MI x3, 45 MI x2, 25 IN, 35 MI
    assert found.per_unit.tolist() == [3, 3, 3, 3, 3, 2, 1, 1, 3, 2]
    assert found.value == 1
    assert found.details["classes"] == 5
    assert found.details["below"] == {"2": 2, "3": 4, "5": 10}
    assert found.details["share_below"]["3"] == 0.4
    assert "alone" in found.explanation
    assert found.better == "higher"


def test_both_readings_of_missing_values_are_reported():
    data = microdata(sex=["f", "f", None, "m"], region=["a", "a", "a", "b"])
    strict = risk.KAnonymity().measure(data)
    wildcard = risk.KAnonymity(missing="wildcard").measure(data)
    assert strict.per_unit.tolist() == [2, 2, 1, 1]
    assert wildcard.per_unit.tolist() == [3, 3, 3, 1]
    assert strict.details["readings"] == wildcard.details["readings"]
    assert strict.details["readings"]["wildcard"]["below"]["3"] == 1


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, 3, None])),
        min_size=1,
        max_size=30,
    )
)
def test_the_strict_reading_never_gives_larger_classes(rows):
    data = Microdata.of(
        pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64}, orient="row")
    ).with_roles(keys=["x", "y"])
    strict = risk.KAnonymity().measure(data).per_unit
    wildcard = risk.KAnonymity(missing="wildcard").measure(data).per_unit
    assert np.all(strict <= wildcard)
    assert strict.tolist() == [rows.count(row) for row in rows]


def test_weights_give_the_smallest_population_class():
    data = microdata(x=["a", "a", "b"], w=[10.0, 5.5, 40.0])
    found = risk.KAnonymity().measure(data)
    assert found.details["smallest_population_class"] == 15.5
    assert (
        "smallest_population_class"
        not in risk.KAnonymity().measure(microdata(x=["a", "b"])).details
    )


def test_the_release_is_measured_not_the_original():
    original = microdata(x=["a", "b", "c", "c"])
    released = pl.DataFrame({"x": ["a", "a", "c", "c"]})
    found = risk.KAnonymity().measure(original, released)
    assert found.value == 2
    assert len(found.per_unit) == 4
    assert "at least 1 more" in found.explanation


def test_a_release_without_the_keys_is_one_class():
    original = microdata(x=["a", "b"], money=[1, 2])
    found = risk.KAnonymity().measure(original, pl.DataFrame({"money": [1, 2]}))
    assert found.value == 2
    assert found.details["keys_removed"] == ["x"]
    assert found.warnings


def test_chosen_keys_and_threshold():
    found = risk.KAnonymity(keys="State", k=10).measure(tacit.datasets.patients())
    assert found.details["below"] == {"2": 1, "3": 1, "5": 1, "10": 10}
    with pytest.raises(SchemaError, match="State"):
        risk.KAnonymity(keys=["Stat"]).measure(tacit.datasets.patients())
    with pytest.raises(ParameterError, match="'k'"):
        risk.KAnonymity(k=1)
    with pytest.raises(ParameterError, match="missing"):
        risk.KAnonymity(missing="loose")


def test_what_cannot_be_measured_says_so():
    plain = Microdata.of(pl.DataFrame({"x": [1]}))
    assert "key" in risk.KAnonymity().objection(plain)
    assert risk.KAnonymity(keys=["x"]).objection(plain) is None
    with pytest.raises(DataError, match="key"):
        risk.KAnonymity().measure(plain)
    with pytest.raises(DataError, match="at least one record"):
        risk.KAnonymity().measure(microdata(x=[1]), pl.DataFrame({"x": []}, schema={"x": pl.Int64}))


def test_one_record_and_plain_data():
    found = risk.KAnonymity().measure(microdata(x=["ö"]))
    assert found.value == 1
    json.dumps(found.as_dict(), allow_nan=False)


def test_engines_agree():
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame({"x": ["a", "a", None], "y": [1, 1, 2]})
    table = duckdb.from_arrow(frame.to_arrow())
    for native in (frame, frame.to_pandas(), table):
        data = Microdata.of(native).with_roles(keys=["x", "y"])
        assert risk.KAnonymity().measure(data).per_unit.tolist() == [2, 2, 1]
