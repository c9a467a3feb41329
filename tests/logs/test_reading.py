"""Files in AOL's format and others."""

import gzip
from datetime import datetime

import pytest

from tacit.core.errors import ParameterError, ReadError, UnknownColumnError
from tacit.logs import read

AOL = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    '7\tsay "cheese\t2006-03-01 07:17:12\t\t\n'
    "7\trésumé\t2006-03-01 07:18:12\t3\thttp://www.jobs.example\n"
    "9\t-\t2006-03-01 07:19:12\n"
    "9\tflu\tyesterday\tfirst\t\n"
)


def test_aol_format(tmp_path):
    (tmp_path / "log.txt").write_text(AOL, encoding="utf-8")
    log = read(tmp_path / "log.txt")
    assert log.queries.to_list() == ['say "cheese', "résumé", "flu"]
    assert log.n_left_out == 1
    assert log.details["time"].to_list()[:1] == [datetime(2006, 3, 1, 7, 17, 12)]
    assert log.details["time"].to_list()[2] is None
    assert log.details["rank"].to_list() == [None, 3, None]
    assert log.details["url"].to_list()[1] == "http://www.jobs.example"


def test_several_compressed_files_by_pattern(tmp_path):
    for name in ("a.txt.gz", "b.txt.gz"):
        with gzip.open(tmp_path / name, "wb") as handle:
            handle.write(AOL.encode() + b"9\tcaf\xe9\t2006-03-01 07:17:12\t\t\n")
    log = read(tmp_path / "*.txt.gz")
    assert log.n_lines == 8
    assert log.n_users == 2
    assert "caf\ufffd" in log.queries.to_list()


def test_other_columns_and_separators(tmp_path):
    (tmp_path / "log.csv").write_text("who,asked\na,flu\nb,chess\n", encoding="utf-8")
    log = read(tmp_path / "log.csv", columns={"user": "who", "query": "asked"}, separator=",")
    assert log.frame.rows() == [("a", "flu"), ("b", "chess")]


def test_plain_names_are_understood(tmp_path):
    (tmp_path / "log.tsv").write_text("user\tquery\n1\tflu\n", encoding="utf-8")
    assert read(tmp_path / "log.tsv").n_lines == 1


def test_refusals(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "none.txt")
    with pytest.raises(ReadError, match="no file was named"):
        read([])
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    with pytest.raises(ReadError, match="could not be read"):
        read(tmp_path / "empty.txt")
    (tmp_path / "log.txt").write_text(AOL, encoding="utf-8")
    with pytest.raises(UnknownColumnError):
        read(tmp_path / "log.txt", columns={"user": "nobody", "query": "Query"})
    with pytest.raises(ParameterError, match="one ASCII character"):
        read(tmp_path / "log.txt", separator="")
    (tmp_path / "wide.txt").write_text(AOL, encoding="utf-16")
    with pytest.raises(ReadError, match="UTF-16"):
        read(tmp_path / "wide.txt")
    with pytest.raises(ReadError, match="no file"):
        read(tmp_path)
