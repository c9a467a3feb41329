"""Delimited text, parsed fast and, to find a line, slowly: both ways agree."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import ReadError
from tacit.io.delimited import Delimited, as_utf8, check_utf8, column_names


def opened(path, separators=(",", ";", "\t", "|"), quote='"'):
    return Delimited.open(path, "utf-8", separators, quote)


def test_sniffing_prefers_the_separator_that_fits_every_record(text_file):
    assert opened(text_file("a,b;c\n1;2\n3;4\n5;6\n")).separator == ";"
    assert opened(text_file("plain\ntext\n")).separator == ","


def test_sniffing_a_ragged_file_finds_its_separator(text_file):
    assert opened(text_file("a;b;c\n1;2;3\n1;2\n")).separator == ";"


def test_lines_are_counted_through_quoted_newlines_and_blanks(text_file):
    header, body = opened(text_file('"a\nb",c\n\n"x\n\ny",1\nz,2\n')).without_header()
    assert header == ["a\nb", "c"]
    assert [line for line, _ in body.records()] == [4, 7]
    assert body.line_of(1, 2) == 7
    assert body.line_of(9, 2) is None


def test_a_wide_header_is_read_whole(text_file):
    names = [f"column_number_{i}" for i in range(5_000)]
    path = text_file(",".join(names) + "\n" + ",".join("1" * 5_000) + "\n")
    header, body = opened(path).without_header()
    assert header == names
    assert body.columns(names, ()).shape == (1, 5_000)


def test_column_names():
    assert column_names([" a ", "", "b"], Path("x.csv")) == [
        "a", "column_2", "b",
    ]  # fmt: skip


def test_named_column_collides_with_a_number(tmp_path):
    with pytest.raises(ReadError, match=r"duplicate"):
        column_names(["", "column_1"], tmp_path)


def test_check_utf8_counts_lines(text_file):
    path = text_file(b"a\r\nb\r\n\xff\r\n")
    with pytest.raises(ReadError, match=r"line 3"):
        check_utf8(path, as_utf8(path, "utf-8"))


_field = st.text(st.sampled_from("ab1 ,;\"'\n\ré日"), max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_field, _field), min_size=1, max_size=6))
def test_the_fast_parser_reads_what_the_csv_module_writes(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows([("x", "y"), *records])
    header, body = opened(path, (",",)).without_header()
    assert header == ["x", "y"]
    assert body.columns(["x", "y"], ()).rows() == records


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40) | st.text('a1,;"\n\r ', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, content):
    import tacit

    path = tmp_path_factory.mktemp("any") / "data.csv"
    path.write_bytes(content)
    try:
        data = tacit.read(path)
    except ReadError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017 - either outcome is fine
    else:
        assert data.columns
