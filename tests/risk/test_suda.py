"""SUDA: minimal sample uniques against brute force, scores, shares, missing values."""

from itertools import combinations
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError, ParameterError
from tacit.risk.suda import minimal_sample_uniques, shared_probability


def brute_force(codes, max_size, *, wildcard=False):
    """Every record, every set of keys, as the definition says."""
    n, m = codes.shape

    def alike(i, j, keys):
        return all(
            codes[i, c] == codes[j, c] or (wildcard and min(codes[i, c], codes[j, c]) < 0)
            for c in keys
        )

    found = set()
    for i in range(n):
        mine = []
        for size in range(1, max_size + 1):
            for keys in combinations(range(m), size):
                if any(set(smaller) <= set(keys) for smaller in mine):
                    continue
                if wildcard and codes[i, list(keys)].min() < 0:
                    continue
                if not any(alike(i, j, keys) for j in range(n) if j != i):
                    mine.append(keys)
        found |= {(i, sum(1 << c for c in keys)) for keys in mine}
    return found


tables = npst.arrays(
    np.int32,
    st.tuples(st.integers(1, 14), st.integers(1, 5)),
    elements=st.integers(-1, 3),
)


@settings(max_examples=150)
@given(tables, st.integers(1, 5))
def test_equals_brute_force(codes, max_size):
    max_size = min(max_size, codes.shape[1])
    found = minimal_sample_uniques(codes, max_size)
    pairs = list(zip(found.records.tolist(), found.sets.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute_force(codes, max_size)


@settings(max_examples=60)
@given(tables, st.integers(1, 5))
def test_missing_as_a_wildcard_equals_brute_force(codes, max_size):
    max_size = min(max_size, codes.shape[1])
    found = minimal_sample_uniques(codes, max_size, missing="wildcard")
    pairs = set(zip(found.records.tolist(), found.sets.tolist(), strict=True))
    assert pairs == brute_force(codes, max_size, wildcard=True)
    for record, keys in pairs:
        assert all(codes[record, c] >= 0 for c in range(codes.shape[1]) if keys >> c & 1)


def test_equals_brute_force_on_people():
    census = tacit.datasets.census(150, missing=0.05)
    codes = tacit.core.keys.encode(census, ["region", "sex", "education", "marital", "occupation"])
    found = minimal_sample_uniques(codes, 4)
    assert set(zip(found.records.tolist(), found.sets.tolist(), strict=True)) == brute_force(
        codes, 4
    )


def microdata(rows, names="abcdefg"):
    m = len(rows[0])
    frame = pl.DataFrame(rows, schema=list(names[:m]), orient="row")
    return Microdata.of(frame).with_roles(keys=list(names[:m]))


def test_contributions_of_variables():
    # worked by hand: a2, b3, c6 score 2 each, (a1, b0) and (a1, c0) score 1 each
    found = risk.Suda(score="suda").measure(microdata([(2, 0, 0), (1, 3, 6), (1, 0, 0)]))
    assert found.per_unit.tolist() == [2, 4, 2]
    assert found.details["contribution"] == {"a": 0.5, "b": 0.375, "c": 0.375}
    assert found.details["minimal_uniques"] == {"1": 3, "2": 2}


def test_max_size_changes_the_product():
    rows = [(2, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)]
    for max_size in (1, 2, 3, 4):
        score = prod(4 - i for i in range(1, min(max_size, 3) + 1))
        found = risk.Suda(score="suda", max_size=max_size).measure(microdata(rows))
        assert found.per_unit.tolist() == [score, 0, 0]


def test_worst_records_are_named_with_the_keys_that_single_them_out():
    found = risk.Suda().measure(microdata([("x", 1), ("y", 1), ("y", 2), ("y", 1), ("z", 2)]))
    assert found.details["worst"][0]["record"] == 0
    assert found.details["worst"][0]["unique_on"] == [["a"]]
    assert found.details["worst"][1]["unique_on"] == [["a", "b"]]


def test_missing_values_single_out_only_if_they_are_values():
    rows = [("x", 1), ("x", 1), (None, 1), ("y", 2), ("y", 2)]
    strict = risk.Suda(score="suda").measure(microdata(rows))
    wildcard = risk.Suda(score="suda", missing="wildcard").measure(microdata(rows))
    assert strict.per_unit.tolist() == [0, 0, 1, 0, 0]
    assert wildcard.value == 0


@given(
    st.lists(st.integers(0, 50).map(float), min_size=1, max_size=20),
    st.floats(0, 25),
)
def test_shared_probability(scores, total):
    scores = np.array(scores)
    shares = shared_probability(scores, total)
    assert np.all((shares >= 0) & (shares <= 1 + 1e-12))
    assert np.all(shares[scores == 0] == 0)
    assert shares.sum() == pytest.approx(min(total, np.sum(scores > 0)), abs=1e-9)
    open_ = (shares < 1 - 1e-9) & (scores > 0)
    if open_.any():
        assert np.ptp(shares[open_] / scores[open_]) < 1e-9
    assert np.all(np.diff(shares[np.argsort(scores)]) >= -1e-12)


def test_mean_dis_over_the_uniques_is_the_intrusion_probability():
    census = tacit.datasets.census(400)
    found = risk.Suda(keys=["region", "sex", "age"]).measure(census)
    is_unique = risk.SampleUniques(keys=["region", "sex", "age"]).measure(census).per_unit
    assert found.per_unit[is_unique].mean() == pytest.approx(found.details["intrusion"])
    assert np.all(found.per_unit[~is_unique] == 0)


def test_coarser_keys_score_less_and_a_constant_scores_nothing():
    census = tacit.datasets.census(400)
    measure = risk.Suda(keys=["region", "sex", "age"], score="suda")
    original = measure.measure(census).value
    plan = tacit.Plan([tacit.mask.Recode(column="age", width=10)])
    assert measure.measure(census, plan.apply(census, seed=1)).value < original
    assert measure.measure(census, tacit.Plan().apply(census, seed=1)).value == original
    constant = census.take(np.zeros(9, dtype=int))
    none = measure.measure(constant)
    assert none.value == 0
    assert none.explanation.startswith("None of the 9 records")


def test_one_record_reaches_the_bound():
    found = risk.Suda(score="suda").measure(microdata([(1, 2, 3)]))
    assert found.value == 3 * 2  # each of three keys alone, (3 - 1)! each
    assert found.bounds == (0.0, 6.0)
    assert risk.Suda().measure(microdata([(1, 2, 3)])).value == 1


def test_a_release_without_keys():
    data = microdata([(1, 2), (3, 4)]).with_columns()
    found = risk.Suda().measure(data, pl.DataFrame({"z": [1, 2]}))
    assert found.value == 0
    assert found.warnings


def test_bad_input():
    with pytest.raises(ParameterError, match="max_size"):
        risk.Suda(max_size=0)
    with pytest.raises(DataError, match="at most 62 keys"):
        minimal_sample_uniques(np.zeros((2, 63), dtype=np.int32), 2)
    many = np.full((2, 40), -1, dtype=np.int32)
    with pytest.raises(DataError, match="lower max_size"):
        minimal_sample_uniques(many, 8, missing="wildcard")
