"""Arrow: files and streams, readable by others."""

import pyarrow as pa
import pyarrow.feather
import pytest

import tacit
from tacit.core.errors import ReadError


@pytest.mark.parametrize("name", ["data.arrow", "data.feather", "data.ipc"])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_round_trip(tmp_path, people, name, compression):
    tacit.write(people, tmp_path / name, compression=compression)
    data = tacit.read(tmp_path / name)
    assert data.frame.equals(people)
    assert data.frame.schema == people.schema


def test_other_programs_read_it(tmp_path, people):
    tacit.write(people, tmp_path / "data.feather")
    table = pyarrow.feather.read_table(tmp_path / "data.feather")
    assert table.column("name").to_pylist() == people["name"].to_list()
    assert pa.types.is_large_string(table.schema.field("name").type)


def test_streams_are_read(tmp_path, people):
    people.write_ipc_stream(tmp_path / "data.arrow")
    assert tacit.read(tmp_path / "data.arrow").frame.equals(people)


def test_no_records(tmp_path, people):
    tacit.write(people.clear(), tmp_path / "data.arrow")
    assert tacit.read(tmp_path / "data.arrow").frame.schema == people.schema


@pytest.mark.parametrize("content", [b"not arrow at all", b"ARROW1\0\0 and then nothing"])
def test_broken_files(text_file, content):
    with pytest.raises(ReadError, match=r"data\.arrow") as caught:
        tacit.read(text_file(content, "data.arrow"))
    assert "\n" not in str(caught.value)


def test_duplicate_names(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with (
        pa.OSFile(str(tmp_path / "data.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    with pytest.raises(ReadError, match=r"(?i)duplicate"):
        tacit.read(tmp_path / "data.arrow")
