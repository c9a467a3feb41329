"""A release beside its original."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.pairing import pair, substantive_columns
from tacit.core.plan import Plan
from tacit.core.schema import Kind

BASE = pl.DataFrame({"id": ["a", "b", "c"], "age": [30, 40, 50], "income": [1.0, 2.0, 3.0]})


@pytest.fixture
def data():
    return Microdata.of(BASE).with_roles(identifiers=["id"], keys=["age"], confidential=["income"])


def test_data_alone_are_paired_with_themselves(data):
    both = pair(data)
    assert both.released is data
    before, after = both.matched
    assert before.tolist() == after.tolist() == [0, 1, 2]
    assert both.shared == data.columns


def test_a_release_knows_where_its_records_came_from(data):
    release = Plan([]).apply(data, seed=1)
    both = pair(data, release)
    assert both.rows.tolist() == [0, 1, 2]
    assert both.shared == ["age", "income"]


def test_records_taken_out_of_order(data):
    both = pair(data, data.numbered().take(np.array([2, 0])))
    before, after = both.matched
    assert before.tolist() == [2, 0]
    assert after.tolist() == [0, 1]


def test_simulated_records_have_no_original(data):
    counted = data.numbered()
    import narwhals as nw

    from tacit.core.data import ROW

    simulated = counted._holding(
        counted.local.with_columns(pl.Series(ROW, [0, -1, 2], dtype=pl.Int64)), counted.schema
    )
    assert isinstance(simulated.lazy, nw.LazyFrame)
    before, after = pair(data, simulated).matched
    assert before.tolist() == [0, 2]
    assert after.tolist() == [0, 2]


def test_plain_files_of_equal_length_are_paired_by_position(data):
    both = pair(data, BASE.drop("id"))
    assert both.rows.tolist() == [0, 1, 2]
    assert both.released.schema.keys == ["age"]
    assert both.released.schema.confidential == ["income"]


def test_plain_files_of_other_length_stay_unpaired(data):
    both = pair(data, BASE.head(2))
    assert both.rows is None
    with pytest.raises(DataError, match=r"cannot be paired .*3 originals, 2 released"):
        both.matched  # noqa: B018


def test_released_columns_keep_their_own_kinds(data):
    coded = BASE.with_columns(age=pl.lit("[30, 50]"))
    both = pair(data, coded)
    assert both.released.schema["age"].kind == Kind.NOMINAL
    assert both.released.schema.keys == ["age"]


def test_roles_of_the_release_win(data):
    released = Microdata.of(BASE).with_roles(keys=["income"])
    assert pair(data, released).released.schema.keys == ["income"]


def test_new_columns_of_a_release_are_no_problem(data):
    both = pair(data, BASE.drop("income").with_columns(flag=pl.lit(True)))
    assert both.shared == ["id", "age"]
    assert both.released.schema["flag"].roles == frozenset()


def test_a_column_named_data_does_not_hide_the_frame(data):
    frame = pd.DataFrame({"age": [1, 2, 3], "data": [4, 5, 6]})
    assert pair(data, frame).released.columns == ["age", "data"]


def test_a_release_of_other_data_is_noticed(data):
    release = Plan([]).apply(data, seed=1)
    with pytest.raises(DataError, match="made from other data"):
        pair(data.take(np.array([0])), release)


def test_empty_data():
    empty = Microdata.of(BASE.clear())
    before, after = pair(empty, empty.numbered()).matched
    assert len(before) == len(after) == 0


def test_a_column_that_numbers_records_pairs_them_in_any_order(data):
    both = pair(data, BASE.reverse(), "id")
    assert both.rows.tolist() == [2, 1, 0]
    assert not both.by_position
    part = pair(data, pl.DataFrame({"id": ["c", "new"], "age": [1, 2]}), "id")
    assert part.rows.tolist() == [2, -1], "a record that the original lacks is simulated"


@pytest.mark.parametrize("values", [["a", "a", "b"], ["a", None, "b"]])
def test_a_column_that_does_not_number_records_is_refused(data, values):
    with pytest.raises(DataError, match="another value on each record of the release"):
        pair(data, BASE.with_columns(id=pl.Series(values)), "id")


def test_only_plain_files_are_paired_by_position(data):
    assert pair(data, BASE).by_position
    assert not pair(data).by_position
    assert not pair(data, data).by_position
    assert not pair(data, Plan([]).apply(data, seed=1)).by_position
    assert not pair(data, BASE.head(2)).by_position


def test_columns_about_the_units(data):
    assert substantive_columns(data) == ["age", "income"]
    assert substantive_columns(
        data.with_roles(weight="income", confidential=[]), [Kind.NUMERIC]
    ) == ["age"]
    assert pair(data, BASE.with_columns(pl.col("age").cast(pl.String))).kinds("age") == {
        Kind.NUMERIC,
        Kind.NOMINAL,
    }
