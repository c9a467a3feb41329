"""Sample uniques: the share of records alone with their keys, and the keys to blame."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError, ParameterError
from tacit.risk import sample_uniques


def microdata(rows, names="xyz"):
    names = list(names)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    return Microdata.of(frame).with_roles(keys=names)


def test_patients():
    found = risk.SampleUniques().measure(tacit.datasets.patients())
    assert found.value == 0.2
    assert np.flatnonzero(found.per_unit).tolist() == [6, 7]
    assert found.details["combinations"] == [
        {"keys": ["Age"], "uniques": 2, "share": 0.2},
        {"keys": ["Age", "State"], "uniques": 2, "share": 0.2},
        {"keys": ["State"], "uniques": 1, "share": 0.1},
    ]


values = st.one_of(st.none(), st.integers(0, 2))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=25))
def test_combinations_equal_brute_force(rows):
    found = risk.SampleUniques(max_size=2).measure(microdata(rows))
    expected = {}
    for size in (1, 2):
        for columns in combinations(range(3), size):
            parts = [tuple(row[c] for c in columns) for row in rows]
            n_unique = sum(parts.count(part) == 1 for part in parts)
            if n_unique:
                expected["".join("xyz"[c] for c in columns)] = n_unique
    listed = {"".join(c["keys"]): c["uniques"] for c in found.details["combinations"]}
    assert listed == expected
    assert found.per_unit.tolist() == [rows.count(row) == 1 for row in rows]
    counts = [c["uniques"] for c in found.details["combinations"]]
    assert counts == sorted(counts, reverse=True)


def test_a_wildcard_hides_a_record_that_strictly_is_unique():
    data = microdata([(1, 1, 1), (1, 1, None), (2, 2, 2)])
    strict = risk.SampleUniques().measure(data)
    wildcard = risk.SampleUniques(missing="wildcard").measure(data)
    assert strict.per_unit.tolist() == [True, True, True]
    assert wildcard.per_unit.tolist() == [False, False, True]
    assert strict.details["uniques"] == wildcard.details["uniques"] == {"strict": 3, "wildcard": 1}


def test_weights_say_whom_the_uniques_stand_for():
    frame = pl.DataFrame({"x": [1, 1, 2], "w": [3.0, 4.0, 9.5]})
    data = Microdata.of(frame).with_roles(keys=["x"], weight="w")
    found = risk.SampleUniques().measure(data)
    assert found.value == pytest.approx(1 / 3)
    assert found.details["population_of_uniques"] == 9.5


def test_many_keys_shorten_the_combinations():
    assert sample_uniques._feasible_size(5, 3) == 3
    assert sample_uniques._feasible_size(2, 3) == 2
    assert sample_uniques._feasible_size(40, 3) == 2, "11 480 combinations of up to 3 are too many"
    assert sample_uniques._feasible_size(5000, 3) == 1


def test_bad_input():
    with pytest.raises(ParameterError, match="max_size"):
        risk.SampleUniques(max_size=0)
    with pytest.raises(DataError, match="at least one record"):
        risk.SampleUniques().measure(microdata([]))
    assert risk.SampleUniques().objection(Microdata.of(pl.DataFrame({"x": [1]})))


def test_the_release_is_measured():
    original = microdata([(1, 1, 1), (2, 2, 2)])
    same = pl.DataFrame({"x": [1, 1], "y": [1, 1], "z": [1, 1]})
    assert risk.SampleUniques().measure(original, same).value == 0
    assert risk.SampleUniques().measure(original).value == 1
