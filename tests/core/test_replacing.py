"""Labels in place of values: conditions say what a table of values says, in every engine."""

import duckdb
import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.replacing import needs_conditions, replaced

VALUES = st.sampled_from(["a", "b", "c", "ü", "'; --", ""])


@given(
    st.lists(st.none() | VALUES, min_size=1),
    st.dictionaries(VALUES, st.sampled_from(["x", "y", "z"])),
)
def test_conditions_give_the_labels_of_a_dictionary(values, labels):
    frame = nw.from_native(pl.DataFrame({"v": pl.Series(values, dtype=pl.String)}))
    new = replaced(nw.col("v"), labels, nw.lit("other"), by_conditions=True)
    found = frame.select(nw.col("v"), new.alias("n"))["n"].to_list()
    assert found == [labels.get(v, "other") for v in values]


def test_a_thousand_labels_do_not_nest_too_deep():
    labels = {i: f"label {i}" for i in range(1000)}
    frame = nw.from_native(duckdb.sql("select range as v from range(1003)")).lazy()
    new = replaced(nw.col("v"), labels, nw.lit("other"), by_conditions=True)
    found = frame.select("v", new.alias("n")).collect("polars").sort("v")["n"].to_list()
    assert found == [*labels.values(), *["other"] * 3]


@pytest.mark.parametrize("by_conditions", [False, True])
def test_no_label_at_all(by_conditions):
    frame = nw.from_native(pl.DataFrame({"v": ["a", None]}))
    new = replaced(nw.col("v"), {}, nw.lit("other"), by_conditions=by_conditions)
    assert frame.select(nw.col("v"), new.alias("n"))["n"].to_list() == ["other", "other"]


def test_only_databases_need_conditions():
    assert not needs_conditions(nw.from_native(pl.LazyFrame({"v": [1]})))
    assert not needs_conditions(nw.from_native(duckdb.sql("select 1 as v")).lazy())
