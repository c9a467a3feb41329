"""Archives: whole or refused."""

import json
import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.archive import MANIFEST, Reader, Writer, is_acceptable
from tacit.core.errors import ReadError

PROJECT = "projects/" + "0a" * 16
GOOD = f"{PROJECT}/data/a.parquet"


@pytest.fixture
def archive(tmp_path):
    """A good archive."""
    path = tmp_path / "good.zip"
    with Writer(path, {"format": 1}) as made:
        made.add(GOOD, [b"abc", b"def"])
        made.add("store/project.jsonl", [b'{"a": 1}\n', b'{"a": 2}\n'])
    return path


def _forged(path, entries, listed=None):
    """Write an archive by hand: anything goes."""
    import hashlib

    files = {
        name: {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        for name, body in entries
    }
    with zipfile.ZipFile(path, "w") as target:
        for name, body in entries:
            target.writestr(name, body)
        target.writestr(MANIFEST, json.dumps({"files": files if listed is None else listed}))
    return path


def test_what_was_written_is_read(archive, tmp_path):
    with Reader(archive) as found:
        assert found.about["format"] == 1
        assert b"".join(found.blocks(GOOD)) == b"abcdef"
        assert list(found.lines("store/project.jsonl")) == [b'{"a": 1}', b'{"a": 2}']
        found.extract(GOOD, tmp_path / "x" / "y")
    assert (tmp_path / "x" / "y").read_bytes() == b"abcdef"
    assert (tmp_path / "x" / "y").stat().st_mode & 0o077 == 0


def test_only_the_owner_may_read_a_backup(archive):
    assert archive.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/evil", "projects/../evil", f"{PROJECT}/../../evil", f"{PROJECT}/a/../b",
        f"{PROJECT}/./a", f"{PROJECT}//a", f"{PROJECT}\\..\\evil", f"{PROJECT}/a\\b", PROJECT,
        "projects/short/a", "store/../evil.jsonl", "store/a.py", "C:/evil", f"{PROJECT}/a\x00b",
        f"{PROJECT}/a\nb", f"{PROJECT}/a/",
    ],
    ids=repr,
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    assert not is_acceptable(name)
    with pytest.raises(ReadError):
        Reader(_forged(tmp_path / "forged.zip", [(name, b"x")]))
    with Writer(tmp_path / "new.zip", {}) as made, pytest.raises(ReadError, match="no place"):
        made.add(name, [b"x"])


@given(st.text(max_size=60))
def test_an_acceptable_name_stays_in_its_folder(tail):
    from pathlib import Path

    name = f"{PROJECT}/{tail}"
    if is_acceptable(name):
        assert Path("/base", name).resolve().is_relative_to(f"/base/{PROJECT}")


def test_a_link_is_refused(tmp_path):
    path = tmp_path / "link.zip"
    entry = zipfile.ZipInfo(GOOD)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as target:
        target.writestr(entry, "/srv")
        target.writestr(MANIFEST, json.dumps({"files": {GOOD: {"size": 4, "sha256": "0"}}}))
    with pytest.raises(ReadError, match="no place"):
        Reader(path)


def test_an_entry_nobody_speaks_of_or_one_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ReadError, match="what its manifest says"):
        Reader(_forged(tmp_path / "more.zip", [(GOOD, b"x")], listed={}))
    listed = {GOOD: {"size": 1, "sha256": "0"}}
    with pytest.raises(ReadError, match="what its manifest says"):
        Reader(_forged(tmp_path / "less.zip", [], listed=listed))


def test_two_entries_of_one_name_are_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = _forged(tmp_path / "twice.zip", [(GOOD, b"x"), (GOOD, b"y")])
    with pytest.raises(ReadError, match="what its manifest says"):
        Reader(path)


def test_a_file_that_is_not_what_was_saved_is_refused(tmp_path):
    listed = {GOOD: {"size": 6, "sha256": "0" * 64}}
    path = _forged(tmp_path / "other.zip", [(GOOD, b"abcdef")], listed=listed)
    with Reader(path) as found, pytest.raises(ReadError, match="damaged"):
        list(found.blocks(GOOD))
    listed = {GOOD: {"size": 2, "sha256": "0" * 64}}
    with pytest.raises(ReadError, match="damaged"):
        Reader(_forged(tmp_path / "bomb.zip", [(GOOD, b"abcdef")], listed=listed))


@pytest.mark.parametrize("place", range(0, 700, 23))
def test_a_flipped_byte_is_noticed(archive, place):
    content = bytearray(archive.read_bytes())
    content[place % len(content)] ^= 0x55
    archive.write_bytes(content)
    try:
        with Reader(archive) as found:
            bodies = {name: b"".join(found.blocks(name)) for name in found.files}
    except ReadError:
        return
    assert bodies[GOOD] == b"abcdef"  # it hit something that carries no content


@pytest.mark.parametrize(
    "content", [b"", b"not a zip", b"PK\x05\x06" + b"\0" * 18], ids=["empty", "text", "no entries"]
)
def test_what_is_no_archive_is_said_to_be_none(tmp_path, content):
    path = tmp_path / "none.zip"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="not a backup"):
        Reader(path)
    with pytest.raises(ReadError, match="not a backup"):
        Reader(tmp_path / "missing.zip")


@pytest.mark.parametrize("manifest", ["[]", "{", '{"files": {"a": {}}}', '{"files": []}', "{}"])
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr(MANIFEST, manifest)
    with pytest.raises(ReadError):
        Reader(path)
