"""Microdata: a lazy frame and a schema, never changed in place."""

import datetime as dt

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.core.constraints import NonNegative
from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.hierarchy import Intervals, Tree
from tacit.core.schema import Kind, Role, Schema, Variable

BASE = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3"],
        "age": [30, 40, None],
        "income": [1.5, float("nan"), 3.5],
        "sex": ["f", "m", None],
        "w": [1.0, 2.0, 3.0],
    }
)


@pytest.fixture
def data():
    return Microdata.of(BASE)


# -- making ---------------------------------------------------------------------------------------


def test_microdata_of_microdata_are_the_same(data):
    assert Microdata.of(data) is data


def test_kinds_come_from_types():
    frame = pl.DataFrame(
        {"i": [1], "f": [1.0], "s": ["x"], "b": [True], "d": [dt.date(2000, 1, 1)]}
    )
    kinds = [v.kind for v in Microdata.of(frame).schema.variables]
    assert kinds == [Kind.NUMERIC, Kind.NUMERIC, Kind.NOMINAL, Kind.NOMINAL, Kind.DATE]


def test_the_name_of_the_hidden_column_is_taken():
    with pytest.raises(DataError, match="taken by tacit"):
        Microdata.of(pl.DataFrame({ROW: [1]}))


def test_looking(data):
    assert data.columns == BASE.columns
    assert data.n_records == len(data) == 3
    assert "3 records, 5 columns" in repr(data)
    assert "key: ['age']" in repr(data.with_roles(keys=["age"]))


# -- arrays ---------------------------------------------------------------------------------------


def test_numeric_arrays_have_nan_for_missing(data):
    array = data.numeric(["age", "income"])
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, [[30, 1.5], [40, np.nan], [np.nan, 3.5]])
    assert data.numeric([]).shape == (3, 0)


@pytest.mark.parametrize("make", [lambda f: f, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_numeric_arrays_are_the_same_for_every_frame(make, data):
    array = Microdata.of(make(BASE)).numeric(["age", "income"])
    np.testing.assert_array_equal(array, data.numeric(["age", "income"]))


def test_text_is_not_numeric(data):
    with pytest.raises(SchemaError, match="needs numeric columns"):
        data.numeric(["sex"])
    with pytest.raises(SchemaError, match="no column 'agee'"):
        data.numeric(["agee"])


def test_weights(data):
    assert data.weights is None
    weighted = data.with_roles(weight="w")
    np.testing.assert_array_equal(weighted.weights, [1, 2, 3])
    assert weighted.with_roles(keys=["age"]).schema.weight == "w", "what is not given stays"
    assert weighted.with_roles(weight=None).weights is None, "None takes it away"


def test_households_can_be_taken_away(data):
    together = data.with_roles(household="w")
    assert together.with_roles(keys=["age"]).schema.household == "w"
    assert together.with_roles(household=None).schema.household is None


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("inf")])
def test_weights_must_be_finite_and_above_zero(bad):
    data = Microdata.of(pl.DataFrame({"w": [1.0, bad]})).with_roles(weight="w")
    with pytest.raises(DataError, match="above 0 on every record"):
        data.weights  # noqa: B018


# -- new values -----------------------------------------------------------------------------------


def test_roles(data):
    given = data.with_roles(
        identifiers=["id"], keys=["age", "sex"], confidential=["income"], weight="w"
    )
    assert given.schema.identifiers == ["id"]
    assert given.schema.keys == ["age", "sex"]
    again = given.with_roles(keys=[], non_confidential=["age"], strata=["sex"], household="age")
    assert again.schema.keys == []
    assert again.schema.identifiers == ["id"]
    assert again.schema["age"].roles == {Role.NON_CONFIDENTIAL, Role.HOUSEHOLD}
    assert not data.schema.has_roles


def test_links(data):
    assert data.with_roles(keys=["age"], linked={"sex": "age"}).schema.linked == {"sex": "age"}


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"keys": ["agee"]}, "no column 'agee'; did you mean 'age'"),
        ({"keys": "age"}, r"write \['age'\]"),
        ({"identifiers": ["id"], "keys": ["id"]}, "cannot be identifier and key"),
        ({"weight": "age", "confidential": ["age"]}, "cannot be weight and confidential"),
        ({"linked": {"age": "sx"}}, "no column 'sx'"),
    ],
)
def test_bad_roles_are_refused(data, roles, message):
    with pytest.raises(SchemaError, match=message):
        data.with_roles(**roles)


def test_kinds_categories_and_hierarchies(data):
    changed = (
        data.with_kinds(id="text")
        .with_categories(sex=["f", "m"])
        .with_hierarchies(age=Intervals(widths=(10,)), sex=[("f", "*"), ("m", "*")])
    )
    assert changed.schema["id"].kind == Kind.TEXT
    assert changed.schema["sex"].categories == ("f", "m")
    assert isinstance(changed.schema["sex"].hierarchy, Tree)
    with pytest.raises(ParameterError, match="a hierarchy is"):
        data.with_hierarchies(age=5)


def test_a_schema_in_any_order_for_some_columns(data):
    described = Schema(
        variables=(
            Variable(name="sex", kind=Kind.NOMINAL, roles={Role.KEY}),
            Variable(name="age", kind=Kind.ORDINAL, roles={Role.KEY}),
        ),
        constraints=(NonNegative(column="age"),),
    )
    changed = data.with_schema(described)
    assert changed.columns == data.columns
    assert changed.schema.keys == ["age", "sex"]
    assert changed.schema.constraints == described.constraints
    unknown = Schema(variables=(Variable(name="agee", kind=Kind.NUMERIC),))
    with pytest.raises(SchemaError, match="no column 'agee'"):
        data.with_schema(unknown)


def test_columns_by_expression_run_in_the_engine():
    data = Microdata.of(duckdb.from_arrow(BASE.to_arrow()))
    changed = data.with_columns(age=nw.col("age") + 1)
    assert isinstance(changed.frame, duckdb.DuckDBPyRelation)
    assert changed.local["age"].to_list() == [31, 41, None]
    assert data.local["age"].to_list() == [30, 40, None]
    with pytest.raises(SchemaError):
        data.with_columns(agee=nw.col("age"))


def test_columns_by_array(data):
    changed = data.with_arrays(
        {"age": np.array([1.5, np.nan, 3.0]), "sex": np.array(["a", "b", "c"])}
    )
    assert changed.local["age"].to_list() == [1.5, None, 3.0]
    assert changed.local["sex"].to_list() == ["a", "b", "c"]
    assert data.local["sex"].to_list() == ["f", "m", None]


@pytest.mark.parametrize("bad", [np.ones(2), np.ones(4), np.ones((3, 2)), np.float64(1)])
def test_arrays_need_one_value_per_record(data, bad):
    with pytest.raises(DataError, match="one value per record"):
        data.with_arrays({"age": bad})
    with pytest.raises(DataError, match="one value per record"):
        data.with_missing({"age": bad})


def test_blanking(data):
    changed = data.with_missing({"age": np.array([True, False, True]), "sex": np.zeros(3)})
    assert changed.local["age"].to_list() == [None, 40, None]
    assert changed.local["sex"].to_list() == ["f", "m", None]
    assert changed.local.schema == data.local.schema


def test_one_record_can_be_blanked():
    data = Microdata.of(pl.DataFrame({"a": [1]}))
    assert data.with_missing({"a": np.array([True])}).local["a"].to_list() == [None]


def test_taking_records(data):
    taken = data.take(np.array([2, 0, 0]))
    assert taken.local["id"].to_list() == ["p3", "p1", "p1"]
    assert data.take(np.array([], dtype=np.int64)).n_records == 0
    assert data.n_records == 3


def test_taking_records_takes_what_is_known_about_them(data):
    known = data.with_knowledge(["sex"], {"age": [True, False, False]})
    taken = known.take(np.array([1, 0]))
    assert taken.knowledge.known("age", 2).tolist() == [False, True]
    assert taken.knowledge.known("sex", 2).all()


def test_dropping_columns(data):
    known = data.with_roles(keys=["age"], linked={"sex": "age"}).with_knowledge(["age", "sex"])
    dropped = known.drop(["age"])
    assert dropped.columns == ["id", "income", "sex", "w"]
    assert dropped.schema.linked == {}
    assert dropped.knowledge.columns == ["sex"]
    assert dropped.frame.columns == dropped.columns
    with pytest.raises(SchemaError):
        data.drop(["agee"])


def test_counted_records_remember_where_they_came_from(data):
    assert data.rows is None
    counted = data.numbered()
    assert counted.rows.tolist() == [0, 1, 2]
    assert counted.take(np.array([2, 0])).rows.tolist() == [2, 0]
    assert counted.numbered().columns == data.columns
    assert counted.frame.columns == BASE.columns
    assert ROW not in repr(counted.frame)


def test_knowledge_needs_known_columns_and_all_records(data):
    with pytest.raises(SchemaError, match="no column 'agee'"):
        data.with_knowledge(["agee"])
    with pytest.raises(DataError, match="one true or false per record"):
        data.with_knowledge(some={"age": [True]})


def test_in_memory_keeps_kind_and_schema():
    data = Microdata.of(duckdb.from_arrow(BASE.to_arrow())).with_roles(keys=["age"])
    held = data.in_memory()
    assert held.schema == data.schema
    assert isinstance(held.frame, duckdb.DuckDBPyRelation)
    assert held.n_records == 3


def test_nothing_ever_changes_the_input(data):
    before = BASE.clone()
    changed = (
        data.with_roles(keys=["age"])
        .with_arrays({"age": np.zeros(3)})
        .with_missing({"sex": np.ones(3, dtype=bool)})
        .take(np.array([0]))
        .drop(["w"])
    )
    assert changed.n_records == 1
    assert BASE.equals(before)
    assert data.columns == before.columns
    assert data.n_records == 3


def test_changed_arrays_do_not_leak_into_the_data(data):
    array = np.array([1.0, 2.0, 3.0])
    changed = data.with_arrays({"age": array})
    array[:] = 99
    assert changed.local["age"].to_list() == [1.0, 2.0, 3.0]


def test_pandas_comes_back_as_pandas():
    given = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"])})
    back = Microdata.of(given).take(np.array([2, 0])).frame
    assert isinstance(back, pd.DataFrame)
    pd.testing.assert_frame_equal(back, given.iloc[[2, 0]].reset_index(drop=True))


@pytest.mark.parametrize("n", [0, 1])
def test_tiny_data(n):
    data = Microdata.of(BASE.head(n))
    assert data.n_records == n
    assert data.numeric(["age"]).shape == (n, 1)
    assert data.numbered().rows.tolist() == list(range(n))
    assert data.with_arrays({"age": np.ones(n)}).n_records == n


@pytest.mark.parametrize(("column", "kind"), [("sex", "numeric"), ("sex", "date"), ("age", "date")])
def test_a_kind_must_fit_the_type_of_its_column(data, column, kind):
    message = f"'{column}' cannot be {kind}.*types="
    with pytest.raises(SchemaError, match=message):
        data.with_kinds(**{column: kind})
    with pytest.raises(SchemaError, match=message):
        data.with_schema(Schema(variables=(Variable(name=column, kind=kind),)))


def test_kinds_that_numbers_and_flags_may_have():
    data = Microdata.of(pl.DataFrame({"flag": [True, False], "n": [1, 2]}))
    assert data.with_kinds(flag="numeric").numeric(["flag"])[:, 0].tolist() == [1.0, 0.0]
    assert data.with_kinds(n="ordinal").with_kinds(n="numeric").schema["n"].kind is Kind.NUMERIC


def test_one_known_column_is_given_as_a_list(data):
    with pytest.raises(SchemaError, match=r"write \['income'\]"):
        data.with_knowledge(everyone="income")


@pytest.mark.parametrize("name", ["*", "^a.*$", "^$"])
@pytest.mark.parametrize("convert", [pl.DataFrame, lambda f: f.to_pandas(), lambda f: f.to_arrow()])
def test_a_name_that_stands_for_several_columns_is_refused(name, convert):
    with pytest.raises(DataError, match="must not be a pattern"):
        Microdata.of(convert(pl.DataFrame({name: ["x"], "ab": [1.0]})))


def test_names_that_only_look_like_patterns_are_kept():
    frame = pl.DataFrame({"a*": [1], "^b": [2], "c$": [3], "[d]": [4]})
    assert Microdata.of(frame).numeric(frame.columns).tolist() == [[1, 2, 3, 4]]
