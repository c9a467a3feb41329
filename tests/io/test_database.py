"""Databases: a real PostgreSQL, SQLite and DuckDB."""

import decimal
import sqlite3
import time

import duckdb
import narwhals as nw
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import ParameterError, ReadError, WriteError
from tacit.io.database import without_password

pytestmark = pytest.mark.postgres


@pytest.fixture(params=["postgresql", "sqlite", "duckdb"])
def url(request, tmp_path):
    """A database that can be written to."""
    if request.param != "postgresql":
        return f"{request.param}:///{tmp_path}/data.db"
    server = request.getfixturevalue("postgres")
    server.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server.url


def test_round_trip(url, people):
    odd = people.with_columns(
        pl.lit(1, pl.Int64).alias('odd "name; --'), pl.Series("blank", ["", None, "x", ""])
    )
    tacit.write(odd, url, table="people")
    data = tacit.read(url, table="people")
    assert data.local.equals(odd)
    assert data.local.schema == odd.schema
    assert data.reading == {"table": "people"}
    assert data.source == without_password(url)


def test_no_records_and_columns_without_values(url, people):
    tacit.write(people.clear(), url, table="empty")
    assert tacit.read(url, table="empty").local.columns == people.columns
    missing = people.head(1).select(pl.when(False).then(pl.all()))
    tacit.write(missing, url, table="missing")
    assert tacit.read(url, table="missing").local.schema == people.schema


def test_an_existing_table_is_kept_unless_forced(url, people):
    tacit.write(people, url, table="people")
    with pytest.raises(WriteError, match=r"exists already \(got people\)"):
        tacit.write(people.head(1), url, table="people")
    assert len(tacit.read(url, table="people")) == len(people)
    tacit.write(people.head(1), url, table="people", force=True)
    assert len(tacit.read(url, table="people")) == 1


def test_nothing_is_left_when_writing_fails(url, people):
    tacit.write(people, url, table="people")
    bad = pl.DataFrame({"a": [1], "b": [pl.Series([1, 2])]})
    with pytest.raises((WriteError, tacit.core.errors.DataError)):
        tacit.write(bad, url, table="people", force=True)
    assert tacit.read(url, table="people").local.equals(people)


def test_missing_and_misspelt_tables(url, people):
    tacit.write(people, url, table="people")
    with pytest.raises(ReadError, match=r"no table 'poeple'; did you mean 'people'"):
        tacit.read(url, table="poeple")
    with pytest.raises(ReadError, match=r"give table=; known: people"):
        tacit.read(url)
    with pytest.raises(ReadError, match=r"no table 'other\.people'"):
        tacit.read(url, table="other.people")
    with pytest.raises(ParameterError, match=r"database has no parameter 'orderby'; did you mean"):
        tacit.read(url, table="people", orderby="number")
    with pytest.raises(ParameterError, match=r"format= has no meaning"):
        tacit.read(url, table="people", format="csv")


def test_the_tables_of_a_database_are_listed(url, people):
    from tacit.io.database import table_names

    for name in ("people", "Other people"):
        tacit.write(people, url, table=name)
    assert table_names(url) == ["Other people", "people"]


def test_order_by(url):
    tacit.write(pl.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"]}), url, table="t")
    data = tacit.read(url, table="t", order_by="a")
    assert data.local["b"].to_list() == ["y", "z", "x"]
    assert data.reading == {"table": "t", "options": {"order_by": ["a"]}}


def test_declared_types_and_roles(url, people):
    tacit.write(people, url, table="people")
    data = tacit.read(url, table="people", types={"number": "nominal", "code": "text"})
    assert str(data.schema["number"].kind) == "nominal"
    assert data.with_roles(keys=["number"]).schema.keys == ["number"]


def test_a_release_from_and_to_a_database(url, tmp_path):
    frame = pl.DataFrame({"id": list("abcdef"), "x": [1.0, 2.0, 3.0, 10.0, 11.0, 12.0]})
    tacit.write(frame, url, table="original")
    data = tacit.read(url, table="original", order_by="id").with_roles(identifiers=["id"])
    release = tacit.Plan([mask.Mdav(columns=["x"], k=3)]).apply(data, seed=1)
    target = url.replace("data.db", "released.db")
    tacit.write(release, target, table="released")
    back = tacit.read(target, table="released").local
    assert back.columns == ["x"]
    assert sorted(back["x"]) == [2.0] * 3 + [11.0] * 3
    assert tacit.read(url, table="original").local.equals(frame)


# -- PostgreSQL -----------------------------------------------------------------------------------


def test_postgres_tables_stay_in_the_database(postgres):
    postgres.run(
        "DROP TABLE IF EXISTS numbers; CREATE TABLE numbers AS SELECT 1 AS a, 2.5::float8 AS b"
    )
    data = tacit.read(postgres.url, table="numbers")
    assert data.lazy.implementation is nw.Implementation.IBIS
    assert type(data.frame).__module__.startswith("ibis")


def test_postgres_types(postgres):
    postgres.run("DROP TABLE IF EXISTS types")
    postgres.run(
        "CREATE TABLE types AS SELECT 1::smallint AS i, 1.25::numeric(10, 2) AS d, "
        "'0b9d1f4e-3e1c-4d0e-9d7a-6d3f7d6f0a11'::uuid AS u, 'x'::varchar(3) AS v, "
        "'2020-01-02 03:04:05+00'::timestamptz AS t, 'NaN'::float8 AS f, 'Infinity'::float8 AS inf"
    )
    row = tacit.read(postgres.url, table="types").local.row(0, named=True)
    assert row["i"] == 1
    assert row["d"] == decimal.Decimal("1.25")
    assert row["u"] == "0b9d1f4e-3e1c-4d0e-9d7a-6d3f7d6f0a11"
    assert row["v"] == "x"
    assert row["t"].isoformat() == "2020-01-02T03:04:05+00:00"
    assert row["f"] is None
    assert row["inf"] == float("inf")


def test_postgres_schemas(postgres, people):
    postgres.run("DROP SCHEMA IF EXISTS survey CASCADE; CREATE SCHEMA survey")
    tacit.write(people, postgres.url, table="survey.people")
    assert tacit.read(postgres.url, table="survey.people").local.equals(people)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s.url_with("wrong+secret"), "password authentication failed"),
        (lambda s: s.url_with(s.password, "nowhere"), "does not exist"),
        (lambda s: s.url.replace(f":{s.port}", ":1"), "refused|failed"),
        (lambda s: s.url.replace("127.0.0.1", "no-such-host.invalid"), "resolve|translate"),
    ],
)
def test_postgres_out_of_reach_is_one_line_without_the_password(postgres, change, says):
    url = change(postgres)
    for action in (
        lambda: tacit.read(url, table="x"),
        lambda: tacit.write(pl.DataFrame({"a": [1]}), url, table="x"),
    ):
        with pytest.raises((ReadError, WriteError), match=says) as caught:
            action()
        message = str(caught.value)
        assert "\n" not in message
        assert "secret" not in message
        assert caught.value.__cause__ is None


def test_postgres_lost_while_reading_has_no_password_in_its_data(postgres):
    postgres.run("DROP TABLE IF EXISTS one; CREATE TABLE one AS SELECT 1 AS a")
    data = tacit.read(postgres.url, table="one")
    assert "s3cret" not in repr(data)
    assert "s3cret" not in str(data.source) + str(data.reading)
    assert data.source == f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"


def test_postgres_copies_many_records_quickly(postgres):
    frame = pl.DataFrame({"a": range(200_000), "b": ["some text"] * 200_000})
    started = time.perf_counter()
    tacit.write(frame, postgres.url, table="many", force=True)
    assert time.perf_counter() - started < 60  # about 1 s; the machine may be busy
    assert len(tacit.read(postgres.url, table="many")) == 200_000


def test_postgres_replay(postgres, tmp_path, monkeypatch):
    import tacit.core.bundle as bundle
    from tacit.core.release import Release
    from tacit.core.scorecard import Scorecard

    monkeypatch.setattr(Release, "measure", lambda *_: Scorecard((), (), {}, {}))
    monkeypatch.setattr(bundle, "methods", lambda *_: [])
    frame = pl.DataFrame({"id": range(30), "x": [float(i) for i in range(30)]})
    tacit.write(frame, postgres.url, table="replayed", force=True)
    data = tacit.read(postgres.url, table="replayed", order_by="id")
    tacit.Plan([mask.Mdav(columns=["x"], k=3)]).apply(data, seed=1).save(tmp_path / "out")
    manifest = (tmp_path / "out" / "dossier" / "manifest.json").read_text(encoding="utf-8")
    assert "s3cret" not in manifest
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    assert tacit.replay(tmp_path / "out").reproduced
    monkeypatch.delenv("PGPASSWORD")
    assert tacit.replay(tmp_path / "out", data=frame).reproduced


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_database_files_that_are_not_there_or_not_databases(scheme, tmp_path):
    with pytest.raises(ReadError, match=r"no such database file"):
        tacit.read(f"{scheme}:///{tmp_path}/nothing.db", table="x")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "bad.db").write_text("not a database" * 1000, encoding="utf-8")
    with pytest.raises(ReadError, match=r"bad.db") as caught:
        tacit.read(f"{scheme}:///{tmp_path}/bad.db", table="x")
    assert "\n" not in str(caught.value)


def test_relative_database_files(tmp_path, monkeypatch, people):
    monkeypatch.chdir(tmp_path)
    tacit.write(people, "sqlite:///here.db", table="people")
    assert len(tacit.read("sqlite:///here.db", table="people")) == len(people)
    assert (tmp_path / "here.db").is_file()


def test_duckdb_stays_in_the_engine(tmp_path):
    with duckdb.connect(str(tmp_path / "x.db")) as session:
        session.execute("CREATE TABLE t AS SELECT 1 AS a, 1.25::DECIMAL(10,2) AS d")
    data = tacit.read(f"duckdb:///{tmp_path}/x.db", table="t")
    assert data.lazy.implementation is nw.Implementation.DUCKDB
    assert data.local.row(0) == (1, decimal.Decimal("1.25"))


def test_duckdb_open_for_reading_is_not_written_to(tmp_path, people):
    url = f"duckdb:///{tmp_path}/x.db"
    tacit.write(people, url, table="a")
    data = tacit.read(url, table="a")
    with pytest.raises(WriteError, match=r"open for reading in this program"):
        tacit.write(data, url, table="b")
    del data
    tacit.write(people, url, table="b")


def test_sqlite_views_and_mixed_types(tmp_path):
    session = sqlite3.connect(tmp_path / "x.db")
    session.executescript(
        "CREATE TABLE t(a INTEGER, b); INSERT INTO t VALUES (1, 'x'), (2, 3);"
        "CREATE VIEW v AS SELECT a FROM t"
    )
    session.close()
    assert tacit.read(f"sqlite:///{tmp_path}/x.db", table="v").frame["a"].to_list() == [1, 2]
    mixed = tacit.read(f"sqlite:///{tmp_path}/x.db", table="t")
    assert mixed.frame["b"].to_list() == ["x", "3"]


# -- URLs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("postgresql://u:p@h:1/d", "postgresql://u@h:1/d"),
        (
            "postgresql://u:p%40q@h/d?sslmode=require&password=p",
            "postgresql://u@h/d?sslmode=require",
        ),
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql:///d?user=u&password=p", "postgresql:///d?user=u"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("duckdb:////tmp/a.db", "duckdb:////tmp/a.db"),
    ],
)
def test_passwords_are_taken_out(url, safe):
    assert without_password(url) == safe


@pytest.mark.parametrize("url", ["https://x.org/a.csv", "s3://bucket/a.parquet", "file:///a.csv"])
def test_addresses_are_no_databases(url):
    with pytest.raises(ReadError, match=r"not addresses"):
        tacit.read(url, table="x")


def test_unknown_databases():
    with pytest.raises(ReadError, match=r"could not read from nonsense://x"):
        tacit.read("nonsense://x", table="t")
