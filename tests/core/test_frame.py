"""The border: any frame comes in, the same kind goes out, the input is never changed."""

import datetime as dt
import decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect, enter

MOMENT = dt.datetime(2020, 3, 29, 12, 30)
LONG = 2**60 + 1


def there_and_back(native):
    frame, origin = enter(native)
    return origin.restore(frame)


def inside(native):
    return collect(enter(native)[0])


# -- pandas ---------------------------------------------------------------------------------------

PANDAS = {
    "int64": pd.Series([1, 2], dtype="int64"),
    "int8": pd.Series([1, -2], dtype="int8"),
    "uint64": pd.Series([1, 2**63], dtype="uint64"),
    "float32": pd.Series([1.5, np.nan], dtype="float32"),
    "float64": pd.Series([1.5, np.nan]),
    "bool": pd.Series([True, False]),
    "str": pd.Series(["x", None], dtype="str"),
    "Int64": pd.array([LONG, None], dtype="Int64"),
    "UInt8": pd.array([1, None], dtype="UInt8"),
    "Float64": pd.array([1.5, None], dtype="Float64"),
    "boolean": pd.array([True, None], dtype="boolean"),
    "string": pd.array(["x", None], dtype="string"),
    "datetime": pd.to_datetime(["2020-01-01", None]),
    "datetime s": pd.to_datetime(["2020-01-01", None]).astype("datetime64[s]"),
    "datetime tz": pd.to_datetime(["2020-03-29 12:30", None]).tz_localize("Europe/Berlin"),
    "timedelta": pd.to_timedelta(["1 day", None]),
    "category": pd.Categorical(["x", None], categories=["z", "x"]),
    "ordered": pd.Categorical(["lo", "hi"], categories=["lo", "mid", "hi"], ordered=True),
    "category of numbers": pd.Categorical([2, None], categories=[1, 2]),
    "ordered numbers": pd.Categorical([2, 1], categories=[3, 2, 1], ordered=True),
    "category of truths": pd.Categorical([True, False]),
    "object of texts": pd.Series(["x", None], dtype=object),
    "object of numbers": pd.Series([1, None], dtype=object),
    "object of truths": pd.Series([True, None], dtype=object),
    "object of dates": pd.Series([dt.date(2020, 1, 1), None], dtype=object),
    "object of nothing": pd.Series([None, None], dtype=object),
    "object of decimals": pd.Series([decimal.Decimal("1.50"), None], dtype=object),
    "arrow numbers": pd.array([LONG, None], dtype="int64[pyarrow]"),
    "arrow texts": pd.array(["x", None], dtype=pd.ArrowDtype(pa.string())),
    "unicode": pd.Series(["Zoë 🙂", "東京"]),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_pandas_columns_come_back_as_they_were(kind):
    given = pd.DataFrame({"a": PANDAS[kind]})
    pd.testing.assert_frame_equal(there_and_back(given), given)


@pytest.mark.parametrize("kind", PANDAS)
def test_pandas_input_is_never_changed(kind):
    given = pd.DataFrame({"a": PANDAS[kind], "b": [1.0, np.nan]})
    copy = given.copy(deep=True)
    data = Microdata.of(given)
    data.with_missing({"a": np.array([True, True])}).frame  # noqa: B018
    back = data.frame
    back.loc[0, "b"] = 99.0
    pd.testing.assert_frame_equal(given, copy)


def test_later_changes_of_a_pandas_frame_do_not_reach_inside():
    given = pd.DataFrame({"i": [1, 2], "f": [1.0, 2.0], "s": ["x", "y"]})
    data = Microdata.of(given)
    given.iloc[0, 0] = 99
    given.loc[0, "f"] = 99.0
    given.loc[0, "s"] = "z"
    assert data.local.rows() == [(1, 1.0, "x"), (2, 2.0, "y")]


def test_changes_of_what_came_out_do_not_reach_inside():
    data = Microdata.of(pd.DataFrame({"i": [1, 2], "f": [1.0, 2.0]}))
    out = data.frame
    out.iloc[0, 0] = 99
    out.loc[0, "f"] = 99.0
    assert data.local.rows() == [(1, 1.0), (2, 2.0)]


@pytest.mark.parametrize("kind", PANDAS)
def test_pandas_columns_can_lose_values(kind):
    given = pd.DataFrame({"a": PANDAS[kind]})
    blanked = Microdata.of(given).with_missing({"a": np.array([False, True])}).frame
    assert blanked["a"].isna().tolist()[1] is True
    assert blanked["a"].isna().tolist()[0] == given["a"].isna().tolist()[0]


@pytest.mark.parametrize(
    ("given", "expected"), [("int8", "Int8"), ("uint16", "UInt16"), ("int64", "Int64")]
)
def test_whole_numbers_with_gaps_become_nullable_not_floats(given, expected):
    frame = pd.DataFrame({"a": np.array([1, 2], dtype=given)})
    back = Microdata.of(frame).with_missing({"a": np.array([False, True])}).frame
    assert str(back["a"].dtype) == expected
    assert back["a"][0] == 1


def test_long_numbers_keep_their_last_digit_beside_a_gap():
    frame = pd.DataFrame({"a": [LONG, 5]})
    back = Microdata.of(frame).with_missing({"a": np.array([False, True])}).frame
    assert back["a"][0] == LONG


def test_truths_with_gaps_become_nullable():
    frame = pd.DataFrame({"a": [True, False]})
    back = Microdata.of(frame).with_missing({"a": np.array([False, True])}).frame
    assert str(back["a"].dtype) == "boolean"


def test_new_categories_make_a_category_column_plain_text():
    given = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    data = Microdata.of(given).with_arrays({"a": np.array(["x or y", "x or y"])})
    assert data.frame["a"].tolist() == ["x or y", "x or y"]


def test_a_pandas_index_is_dropped_because_it_may_identify():
    given = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["anna", "bert"], name="person"))
    back = there_and_back(given)
    assert list(back.columns) == ["a"]
    assert list(back.index) == [0, 1]
    assert given.index.name == "person"


def test_order_of_categories_reaches_the_schema():
    given = pd.DataFrame({"o": PANDAS["ordered"], "c": PANDAS["category of numbers"]})
    schema = Microdata.of(given).schema
    assert schema["o"].kind == "ordinal"
    assert schema["o"].categories == ("lo", "mid", "hi")
    assert schema["c"].kind == "nominal"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.Series([1, "x"], dtype=object), "mixes values of different types"),
        (pd.Series([1.5, dt.date(2020, 1, 1)], dtype=object), "mixes values of different types"),
        (pd.Series([[1], [2]]), "does not hold plain values"),
        (pd.Series([{"a": 1}, {"a": 2}]), "does not hold plain values"),
        (pd.Series([b"x", b"y"]), "does not hold plain values"),
        (pd.period_range("2020-01", periods=2, freq="M").to_series(), "does not hold plain"),
        (pd.Series([1j, 2j]), "cannot be read"),
    ],
)
def test_pandas_columns_that_are_no_variables_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        enter(pd.DataFrame({"good": [1, 2], "bad": values.reset_index(drop=True)}))


def test_bad_pandas_names_are_refused():
    with pytest.raises(DataError, match="duplicate column names: 'a'"):
        enter(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match="must be text"):
        enter(pd.DataFrame([[1, 2]]))
    levels = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    with pytest.raises(DataError, match="several levels"):
        enter(pd.DataFrame([[1, 2]], columns=levels))


# -- Polars ---------------------------------------------------------------------------------------

POLARS = {
    "int": pl.Series([1, None]),
    "uint8": pl.Series([1, None], dtype=pl.UInt8),
    "int128": pl.Series([2**70, None], dtype=pl.Int128),
    "float32": pl.Series([1.5, None], dtype=pl.Float32),
    "decimal": pl.Series([decimal.Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
    "bool": pl.Series([True, None]),
    "text": pl.Series(["Zoë 🙂", None]),
    "enum": pl.Series(["x", None], dtype=pl.Enum(["y", "x"])),
    "categorical": pl.Series(["x", None], dtype=pl.Categorical),
    "null": pl.Series([None, None]),
    "date": pl.Series([MOMENT.date(), None]),
    "time": pl.Series([MOMENT.time(), None]),
    "duration": pl.Series([dt.timedelta(1), None]),
    "zoned": pl.Series([MOMENT, None]).dt.replace_time_zone("Europe/Berlin"),
}


@pytest.mark.parametrize("kind", POLARS)
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_columns_come_back_as_they_were(kind, lazy):
    given = pl.DataFrame({"a": POLARS[kind]})
    back = there_and_back(given.lazy() if lazy else given)
    assert isinstance(back, pl.LazyFrame if lazy else pl.DataFrame)
    polars.testing.assert_frame_equal(back.lazy().collect(), given)


def test_nan_is_a_missing_value_inside():
    for frame in (
        pl.DataFrame({"a": [1.0, float("nan")]}),
        pl.DataFrame({"a": [1.0, float("nan")]}, schema={"a": pl.Float32}),
        pd.DataFrame({"a": [1.0, np.nan]}),
        pa.table({"a": [1.0, float("nan")]}),
        duckdb.sql("select * from (values (1.0::double), ('nan'::double)) t(a)"),
    ):
        assert inside(frame)["a"].to_list() == [1.0, None]


def test_infinity_stays():
    assert inside(pl.DataFrame({"a": [float("inf")]}))["a"].to_list() == [float("inf")]


def test_categories_are_text_inside_whatever_came_in():
    relation = duckdb.sql("select 'hi'::ENUM('lo', 'hi') as a")
    for frame in (
        pd.DataFrame({"a": pd.Categorical(["hi"], ["lo", "hi"], ordered=True)}),
        pl.DataFrame({"a": ["hi"]}, schema={"a": pl.Enum(["lo", "hi"])}),
        pa.table({"a": pa.array(pd.Categorical(["hi"], ["lo", "hi"], ordered=True))}),
        relation,
    ):
        data = Microdata.of(frame)
        assert data.local.schema["a"] == pl.String
        assert data.schema["a"].categories == ("lo", "hi")


@pytest.mark.parametrize(
    "bad",
    [
        pl.Series([[1]]),
        pl.Series([{"x": 1}]),
        pl.Series([b"x"]),
        pl.Series([object()], dtype=pl.Object),
    ],
)
def test_polars_columns_that_are_no_variables_are_refused(bad):
    with pytest.raises(DataError, match="'bad' does not hold plain values"):
        enter(pl.DataFrame({"good": [1], "bad": bad}))


def test_polars_enum_with_new_labels_becomes_text():
    given = pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Enum(["x", "y"])})
    back = Microdata.of(given).with_arrays({"a": np.array(["x", "new"])}).frame
    assert back.schema["a"] == pl.String


# -- Arrow ----------------------------------------------------------------------------------------

ARROW = {
    "string": pa.array(["a", None]),
    "large_string": pa.array(["a", None], pa.large_string()),
    "string_view": pa.array(["a", None], pa.string_view()),
    "dictionary": pa.array(["a", None]).dictionary_encode(),
    "small dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["a", "b"]),
    "dictionary of numbers": pa.array([7, None]).dictionary_encode(),
    "null": pa.nulls(2),
    "int8": pa.array([1, None], pa.int8()),
    "uint64": pa.array([2**63, None], pa.uint64()),
    "float32": pa.array([1.5, None], pa.float32()),
    "bool": pa.array([True, None]),
    "date32": pa.array([1, None], pa.date32()),
    "date64": pa.array([86_400_000, None], pa.date64()),
    "timestamp": pa.array([1, None], pa.timestamp("s")),
    "zoned": pa.array([1, None], pa.timestamp("us", "Europe/Berlin")),
    "time32": pa.array([1, None], pa.time32("s")),
    "duration": pa.array([1, None], pa.duration("s")),
    "decimal": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(10, 2)),
}


@pytest.mark.parametrize("kind", ARROW)
def test_arrow_columns_come_back_as_they_were(kind):
    given = pa.table({"a": ARROW[kind], "b": [1, 2]})
    back = there_and_back(given)
    assert isinstance(back, pa.Table)
    assert back.schema.types == given.schema.types
    assert back.to_pylist() == given.to_pylist()


def test_arrow_columns_that_changed_are_not_forced_back():
    given = pa.table({"a": ARROW["dictionary"], "n": ARROW["null"], "i": ARROW["int8"]})
    data = Microdata.of(given).with_arrays(
        {"a": np.array(["new", "b"]), "n": np.array(["x", "y"]), "i": np.array([1.5, 2.5])}
    )
    back = data.frame
    assert back.to_pylist() == [{"a": "new", "n": "x", "i": 1.5}, {"a": "b", "n": "y", "i": 2.5}]
    assert pa.types.is_dictionary(back.schema.field("a").type)
    assert back.schema.field("i").type == pa.float64()


def test_an_arrow_dictionary_too_small_for_its_new_values_is_left_open():
    codes = pa.array([0] * 300, pa.int8())
    given = pa.table({"a": pa.DictionaryArray.from_arrays(codes, ["a"])})
    data = Microdata.of(given).with_arrays({"a": np.array([f"v{i}" for i in range(300)])})
    assert data.frame.column("a").to_pylist() == [f"v{i}" for i in range(300)]


def test_the_order_of_an_arrow_dictionary_spans_its_chunks():
    first = pa.array(pd.Categorical(["lo"], ["lo", "hi"], ordered=True))
    second = pa.array(pd.Categorical(["hi"], ["lo", "hi"], ordered=True))
    given = pa.table({"a": pa.chunked_array([first, second])})
    assert Microdata.of(given).schema["a"].categories == ("lo", "hi")
    assert Microdata.of(given.slice(0, 0)).n_records == 0


def test_arrow_metadata_does_not_travel():
    """Metadata of a pandas table hold its index, which often names people."""
    named = pd.DataFrame({"a": [1]}, index=pd.Index(["anna"], name="person"))
    given = pa.Table.from_pandas(named).drop_columns(["person"])
    assert there_and_back(given).schema.metadata in (None, {})


def test_duplicate_arrow_names_are_refused():
    with pytest.raises(DataError, match="duplicate column names: 'a'"):
        enter(pa.table([[1], [2]], names=["a", "a"]))


# -- engines --------------------------------------------------------------------------------------


def test_duckdb_stays_in_duckdb():
    given = duckdb.sql("select 1 as a, 'x' as b")
    back = there_and_back(given)
    assert isinstance(back, duckdb.DuckDBPyRelation)
    assert back.fetchall() == [(1, "x")]
    assert back.types == given.types


def test_duckdb_comes_back_from_memory():
    data = Microdata.of(duckdb.sql("select range as a from range(3)"))
    back = data.take(np.array([2, 0])).frame
    assert isinstance(back, duckdb.DuckDBPyRelation)
    assert back.fetchall() == [(2,), (0,)]


def test_duckdb_tables_are_not_changed():
    connection = duckdb.connect()
    connection.sql("create table t as select 1 as a")
    data = Microdata.of(connection.table("t"))
    data.with_columns(a=nw.col("a") + 1).frame.fetchall()
    assert connection.sql("select * from t").fetchall() == [(1,)]


@pytest.mark.parametrize("value", ["uuid()", "null"])
def test_duckdb_types_carried_as_text(value):
    data = Microdata.of(duckdb.sql(f"select {value} as a"))
    assert data.local.schema["a"] == pl.String


@pytest.mark.parametrize("value", ["[1]", "{'x': 1}", "'x'::BLOB", "interval 1 day", "'1'::BIT"])
def test_duckdb_columns_that_are_no_variables_are_refused(value):
    with pytest.raises(DataError, match="'bad'"):
        enter(duckdb.sql(f"select 1 as good, {value} as bad"))


def test_duplicate_duckdb_names_are_refused():
    with pytest.raises(DataError, match="duplicate column names: 'a'"):
        enter(duckdb.sql("select 1 as a, 2 as a"))


@pytest.fixture
def ibis_table():
    import ibis

    return ibis.memtable(pa.table({"a": [1.5, float("nan")], "b": ["x", None]}))


def test_ibis_stays_in_ibis(ibis_table):
    data = Microdata.of(ibis_table)
    assert data.n_records == 2
    assert type(data.frame) is type(ibis_table)
    assert type(data.in_memory().frame) is type(ibis_table)
    assert data.local["a"].to_list() == [1.5, None]


def test_all_kinds_of_frames_hold_the_same_inside(ibis_table):
    base = pl.DataFrame({"a": [1.5, None], "b": ["x", None]})
    frames = [base, base.lazy(), base.to_pandas(), base.to_arrow(), ibis_table,
              duckdb.from_arrow(base.to_arrow())]  # fmt: skip
    for frame in frames:
        polars.testing.assert_frame_equal(inside(frame), base)


# -- all ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [None, {"a": [1]}, [1, 2], "file.csv", pd.Series([1]), 3])
def test_things_that_are_no_frames_are_refused(bad):
    with pytest.raises(DataError, match="not a dataframe tacit knows"):
        enter(bad)


@pytest.mark.parametrize(
    "given",
    [
        pl.DataFrame(),
        pl.DataFrame(schema={"a": pl.Int64, "b": pl.String}),
        pd.DataFrame({"a": pd.Series([], dtype="int64")}),
        pa.table({"a": pa.array([], pa.int8())}),
    ],
)
def test_empty_frames_come_back(given):
    back = there_and_back(given)
    assert type(back) is type(given)
    assert nw.from_native(back).columns == nw.from_native(given).columns
    assert len(back) == 0


def test_frames_too_large_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr("tacit.core.engine._BYTES_PER_VALUE", 1 << 60)
    frame, _ = enter(duckdb.sql("select 1 as a"))
    with pytest.raises(DataError, match="do not fit"):
        collect(frame)


COLUMN = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.text(max_size=5)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=3, max_size=3),
)


@given(st.lists(COLUMN, min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_any_values_survive_the_border(columns):
    base = pl.DataFrame({f"c{i}": values for i, values in enumerate(columns)}, strict=False)
    polars.testing.assert_frame_equal(there_and_back(base), base)
    arrow = base.to_arrow()
    assert there_and_back(arrow).equals(arrow)
    polars.testing.assert_frame_equal(inside(base.to_arrow()), inside(base))
