"""l-diversity in its three readings, against plain counting."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError


def frame(keys, values):
    return pl.DataFrame({"k": keys, "v": pl.Series(values, dtype=pl.String)})


def plainly(keys, values, c=3.0):
    """Distinct, entropy and recursive diversity of the least diverse class, by the book."""
    found = {"distinct": [], "entropy": [], "recursive": []}
    for key in set(keys):
        inside = [v for k, v in zip(keys, values, strict=True) if k == key and v is not None]
        counts = sorted((inside.count(v) for v in set(inside)), reverse=True)
        found["distinct"].append(len(counts))
        shares = [n / len(inside) for n in counts]
        entropy = math.exp(-sum(p * math.log(p) for p in shares)) if inside else 0.0
        found["entropy"].append(entropy)
        levels = [le for le in range(1, len(counts) + 1) if counts[0] < c * sum(counts[le - 1 :])]
        found["recursive"].append(max(levels, default=0))
    return {name: min(values) for name, values in found.items()}


values = st.none() | st.sampled_from("abcd")


@given(st.lists(st.tuples(st.integers(0, 3), values), min_size=1, max_size=40))
def test_all_readings_agree_with_plain_counting(rows):
    keys, values = [r[0] for r in rows], [r[1] for r in rows]
    expected = plainly(keys, values)
    for reading, value in expected.items():
        measure = risk.LDiversity(keys=["k"], confidential=["v"], reading=reading)
        assert measure.measure(frame(keys, values)).value == pytest.approx(value)


def test_a_permuted_file_has_the_same_diversity():
    """pycanon takes row labels for positions and errs on a sorted or sampled frame."""
    data = tacit.datasets.census(500)
    measure = risk.LDiversity(keys=["region", "sex"], confidential=["marital"])
    shuffled = data.take(np.random.default_rng(0).permutation(500))
    assert measure.measure(data).value == measure.measure(shuffled).value


def test_the_worst_column_decides_and_homogeneous_records_are_counted():
    table = pl.DataFrame({"k": [1, 1, 2, 2], "a": list("xyxy"), "b": list("ppqr")})
    found = risk.LDiversity(keys=["k"], confidential=["a", "b"]).measure(table)
    assert found.value == 1.0
    assert found.details["columns"]["b"]["records_with_one_value"] == 2
    assert found.details["columns"]["b"]["alpha"] == 1.0
    assert found.per_unit.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_identity_and_constant_keys_are_the_extremes():
    data = tacit.datasets.census(300)
    own = risk.LDiversity(keys=["person_id"], confidential=["income"]).measure(data)
    assert own.value == 1.0
    together = data.frame.with_columns(k=pl.lit(1))
    all_in_one = risk.LDiversity(keys=["k"], confidential=["marital"]).measure(together)
    assert all_in_one.value == data.frame["marital"].n_unique()


def test_no_confidential_column_is_refused():
    with pytest.raises(DataError, match="confidential"):
        risk.LDiversity(keys=["k"]).measure(frame([1], ["a"]))


def test_a_gap_is_no_further_value():
    """A class of one known value and gaps is homogeneous: whoever is known has that value."""
    table = frame(["a", "a", "b", "b"], ["flu", None, "x", "y"])
    found = risk.LDiversity(keys=["k"], confidential=["v"]).measure(table)
    assert found.value == 1.0
    assert found.details["columns"]["v"]["records_with_one_value"] == 2
    for reading in ("entropy", "recursive"):
        measure = risk.LDiversity(keys=["k"], confidential=["v"], reading=reading)
        assert measure.measure(table).value == 1.0
    assert found.details["columns"]["v"]["alpha"] == 1.0, "all known values of class a are flu"


@pytest.mark.parametrize("reading", ["distinct", "entropy", "recursive"])
def test_a_class_without_any_known_value_fails(reading):
    table = frame(["a", "a", "b", "b"], [None, None, "x", "y"])
    found = risk.LDiversity(keys=["k"], confidential=["v"], reading=reading).measure(table)
    assert found.value == 0.0
    assert found.per_unit[:2].tolist() == [0.0, 0.0]
    assert found.per_unit[2] == pytest.approx(2.0)


@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive"])
def test_the_masks_promise_what_is_measured(kind):
    """Generalise and this measure read gaps alike: what one promises the other finds."""
    data = tacit.datasets.census(400, missing=0.2)
    keys, confidential = ["region", "sex", "age"], ["marital"]
    step = mask.Generalise(
        keys=keys, confidential=confidential, k=2, diversity=2, diversity_kind=kind
    )
    release = tacit.Plan([step]).apply(data, seed=1)
    measure = risk.LDiversity(keys=keys, confidential=confidential, reading=kind)
    assert measure.measure(data, release).value >= 2 - 1e-9
