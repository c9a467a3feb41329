"""Categories compared record by record."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError


def test_ordinal_moves_count_by_distance_and_nominal_ones_whole():
    before = pl.DataFrame({"o": ["low", "mid", "high"], "n": ["x", "y", "z"]})
    data = tacit.Microdata.of(before).with_categories(o=["low", "mid", "high"])
    after = pl.DataFrame({"o": ["mid", "mid", "low"], "n": ["x", "z", "z"]})
    found = utility.CategoryChanges(columns=["o", "n"]).measure(data, after)
    assert found.details["columns"]["o"]["moved"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert found.details["columns"]["n"]["moved"] == pytest.approx(1 / 3)
    assert found.value == pytest.approx((0.5 + 1 / 3) / 2)
    assert found.per_unit.tolist() == pytest.approx([0.25, 0.5, 0.5])


def test_suppressed_and_unknown_labels_have_moved_all_the_way():
    before = pl.DataFrame({"o": ["low", "mid", "high", None]})
    data = tacit.Microdata.of(before).with_categories(o=["low", "mid", "high"])
    after = pl.DataFrame({"o": [None, "new", "high", None]})
    assert utility.CategoryChanges(columns=["o"]).measure(data, after).value == pytest.approx(0.5)


def test_conditional_entropy_is_what_a_user_does_not_know():
    before = pl.DataFrame({"c": ["a", "b", "c", "d"] * 50})
    same = utility.CategoryChanges(columns=["c"]).measure(before, before)
    assert same.details["columns"]["c"]["conditional_entropy"] == 0.0
    halved = before.with_columns(c=pl.col("c").replace({"b": "a", "d": "c"}))
    found = utility.CategoryChanges(columns=["c"]).measure(before, halved)
    assert found.details["columns"]["c"]["conditional_entropy"] == pytest.approx(1.0)


def test_it_grows_as_pram_changes_more():
    data = tacit.datasets.census(1500)
    values = []
    for stay in (0.95, 0.7, 0.3):
        release = tacit.Plan([mask.Pram(columns=["marital"], stay=stay)]).apply(data, seed=3)
        values.append(utility.CategoryChanges(columns=["marital"]).measure(data, release).value)
    assert values[0] < values[1] < values[2]


def test_sampled_records_are_compared_with_their_own_originals():
    data = tacit.datasets.census(500)
    release = tacit.Plan([mask.Sample(fraction=0.3)]).apply(data, seed=1)
    found = utility.CategoryChanges().measure(data, release)
    assert found.value == 0.0
    assert np.isfinite(found.per_unit).all()


def test_files_that_cannot_be_paired_are_refused():
    before = pl.DataFrame({"c": ["a", "b", "c"]})
    with pytest.raises(DataError, match="paired"):
        utility.CategoryChanges(columns=["c"]).measure(before, before.head(2))


def test_shuffled_rows_are_refused_unless_a_column_numbers_them():
    data = tacit.datasets.census(300)
    frame = data.frame.with_row_index("nr")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    measure = utility.CategoryChanges(columns=["sex", "marital"])
    with pytest.raises(DataError, match=r"another order.*record_id"):
        measure.measure(frame, shuffled)
    assert measure.replace(record_id="nr").measure(frame, shuffled).value == 0
