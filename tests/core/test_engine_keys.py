"""Keys counted in the engine give the measurements that counting records gives."""

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import risk
from tacit.core import engine_keys
from tacit.core.engine import collecting_at_most
from tacit.core.engine_keys import key_classes, with_class_values
from tacit.core.errors import DataError

CENSUS = tacit.datasets.census(700, missing=0.05)
KEYS = ["region", "sex", "age"]
MEASURES = [
    risk.KAnonymity(keys=KEYS),
    risk.KAnonymity(keys=KEYS, missing="wildcard", k=7),
    risk.IndividualRisk(keys=KEYS),
    risk.IndividualRisk(keys=KEYS, missing="strict", sampling_fraction=0.1),
    risk.IndividualRisk(keys=["sex"], formula="approximate", max_global_risk=0.001),
]


def in_duckdb(data):
    return tacit.Microdata.of(duckdb.from_arrow(data.frame.to_arrow())).with_schema(data.schema)


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setattr(engine_keys, "MANY_RECORDS", 0)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.describe())
@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_measurement_is_the_same(measure, weight, counting):
    data = CENSUS.with_roles(weight=weight)
    here, there = measure.measure(data), measure.measure(in_duckdb(data))
    assert here.per_unit is not None
    assert there.per_unit is None
    assert there.value == pytest.approx(here.value, rel=1e-12)
    assert _flat(there.details) == pytest.approx(_flat(here.details), rel=1e-9)
    assert there.explanation == here.explanation


def _flat(details):
    """Return the numbers of nested details by their path."""
    found, waiting = {}, [("", dict(details))]
    while waiting:
        path, part = waiting.pop()
        for key, value in part.items():
            if isinstance(value, dict):
                waiting.append((f"{path}/{key}", value))
            elif isinstance(value, int | float):
                found[f"{path}/{key}"] = value
    return found


def test_few_records_keep_their_values_per_record():
    assert risk.KAnonymity(keys=KEYS).measure(in_duckdb(CENSUS)).per_unit is not None


@given(st.lists(st.tuples(st.sampled_from(["a", "ü", None]), st.integers(0, 2)), min_size=1))
def test_classes_count_every_record_once(rows):
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64}, orient="row")
    found = key_classes(tacit.Microdata.of(duckdb.from_arrow(frame.to_arrow())), ["x", "y"])
    expected = frame.group_by("x", "y").len()
    counted = found.table.with_columns(len=pl.Series(found.times, dtype=pl.UInt32))
    assert sorted(counted.rows(), key=str) == sorted(expected.rows(), key=str)


def test_too_many_classes_are_refused_and_the_way_out_named():
    data = tacit.Microdata.of(duckdb.sql("select i from range(1000) t(i)"))
    with collecting_at_most(500), pytest.raises(DataError, match="recode the keys"):
        key_classes(data, ["i"])


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("inf")])
def test_weights_are_checked_in_the_engine(bad):
    frame = pl.DataFrame({"x": ["a", "b"], "w": [1.0, bad]})
    data = tacit.Microdata.of(duckdb.from_arrow(frame.to_arrow())).with_roles(weight="w")
    with pytest.raises(DataError, match="above 0"):
        key_classes(data, ["x"])


def test_values_of_classes_go_back_to_the_records(counting):
    data = in_duckdb(CENSUS)
    classes = key_classes(data, KEYS)
    back = with_class_values(data, classes, {"size": classes.times}).pl()
    expected = risk.KAnonymity(keys=KEYS).measure(CENSUS).per_unit
    order = CENSUS.local["person_id"]
    sizes = dict(zip(back["person_id"], back["size"], strict=True))
    assert np.array_equal([sizes[i] for i in order], expected)
