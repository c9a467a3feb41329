"""Parquet files opened in DuckDB, within a bound on memory."""

import pytest

import tacit
from tacit.core.errors import ParameterError, ReadError
from tacit.io.beyond_memory import open_parquet, values_within


@pytest.fixture
def census(tmp_path):
    data = tacit.datasets.census(100)
    tacit.write(data, tmp_path / "census.parquet")
    data.schema.save(tmp_path / "census.toml")
    return tmp_path / "census.parquet"


def test_the_file_stays_where_it_is(census):
    data = open_parquet(census, memory="600MB", schema=census.with_suffix(".toml"))
    assert data.n_records == 100
    assert data.source == str(census)
    assert data.schema == tacit.datasets.census(100).schema
    limit = data.frame.query("t", "select current_setting('memory_limit')").fetchall()[0][0]
    assert limit.startswith("190")


def test_a_schema_may_be_left_out(census):
    assert open_parquet(census).columns == tacit.datasets.census(100).columns


@pytest.mark.parametrize("memory", ["100MB", "lots"])
def test_bad_amounts_of_memory(census, memory):
    with pytest.raises(ParameterError, match="memory"):
        open_parquet(census, memory=memory)


def test_what_is_no_parquet_file_is_refused(tmp_path):
    wrong = tmp_path / "wrong.parquet"
    wrong.write_text("no parquet at all, but long enough to be read as one")
    with pytest.raises(ReadError, match=r"wrong\.parquet"):
        open_parquet(wrong)
    with pytest.raises(ReadError, match="no such file"):
        open_parquet(tmp_path / "absent.parquet")


def test_a_wildcard_is_no_file_name(census):
    strange = census.with_name("a[1].parquet")
    census.rename(strange)
    with pytest.raises(ReadError, match="wildcard"):
        open_parquet(strange)


def test_a_quarter_of_the_memory_may_be_collected():
    assert values_within("960MB") == 10_000_000
