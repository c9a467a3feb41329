"""Unswapped records in small cells."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError, SchemaError

COLUMNS = ["region", "sex", "education", "marital"]


def test_identity_has_every_record_unswapped():
    data = tacit.datasets.census(400)
    release = tacit.Plan().apply(data, seed=1)
    found = risk.SwappingRisk(columns=COLUMNS).measure(data, release)
    assert found.details["unswapped"] == 400
    assert found.value == risk.SwappingRisk(columns=COLUMNS).measure(data).value > 0
    assert found.value == pytest.approx(found.per_unit.mean())


def test_a_constant_release_has_no_risk():
    data = tacit.datasets.census(400)
    flat = data.with_local(data.local.with_columns(pl.lit("same").alias(c) for c in COLUMNS))
    assert risk.SwappingRisk(columns=COLUMNS).measure(data, flat).value == 0.0


def test_unswapped_are_judged_by_the_swap_attributes():
    data = tacit.datasets.census(1000)
    release = tacit.Plan([mask.DataSwap(columns=["region"], rate=0.3)]).apply(data, seed=1)
    found = risk.SwappingRisk(columns=COLUMNS, swapped=["region"]).measure(data, release)
    moved = release.frame["region"].to_numpy() != data.local["region"].to_numpy()[release.rows]
    assert found.details["unswapped"] == int((~moved).sum())
    others = risk.SwappingRisk(columns=COLUMNS, swapped=["sex"]).measure(data, release)
    assert others.details["unswapped"] == 1000


def test_the_size_of_small_cells_is_a_parameter():
    data = tacit.datasets.census(500)
    values = [
        risk.SwappingRisk(columns=COLUMNS, smallest=n).measure(data).value for n in (1, 2, 5, 500)
    ]
    assert values == sorted(values)
    assert values[-1] == 1.0


def test_whole_numbers_that_became_floats_are_not_swapped():
    before = pl.DataFrame({"a": [1, 2, 3, 4] * 10, "b": ["x", "y"] * 20})
    after = before.with_columns(pl.col("a").cast(pl.Float64))
    found = risk.SwappingRisk(columns=["a", "b"]).measure(before, after)
    assert found.details["unswapped"] == 40


def test_suppressed_and_simulated_records_count_as_changed():
    before = pl.DataFrame({"a": ["x", "y", "x", "z"]})
    after = before.with_columns(a=pl.Series(["x", None, "x", "z"]))
    found = risk.SwappingRisk(columns=["a"]).measure(before, after)
    assert found.details["unswapped"] == 3
    assert found.value == 1.0


def test_reordered_files_are_refused():
    data = tacit.datasets.census(400).frame
    with pytest.raises(DataError, match="another order"):
        risk.SwappingRisk(columns=COLUMNS).measure(data, data[np.arange(400)[::-1]])


def test_a_missing_column_is_named():
    data = tacit.datasets.census(50)
    with pytest.raises(SchemaError, match="'marital'"):
        risk.SwappingRisk(columns=COLUMNS).measure(data, data.drop(["marital"]))
