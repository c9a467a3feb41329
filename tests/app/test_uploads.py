"""Uploads: hostile names, sizes and contents."""

import asyncio
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.permissions import TooManyError
from tacit.app.uploads import (
    Places,
    check_announced,
    check_unpacked_size,
    known_suffix,
    receive,
    shown_name,
)
from tacit.core.errors import ParameterError, ReadError


async def _chunks(*parts: bytes):
    for part in parts:
        yield part


@given(st.text(max_size=300))
def test_a_shown_name_is_one_printable_line_without_folders(name):
    shown = shown_name(name)
    assert shown
    assert shown.isprintable()
    assert "/" not in shown
    assert "\\" not in shown
    assert len(shown) <= 200


@pytest.mark.parametrize("name", ["x.exe", "x", "x.csv.zip", "plan.asc", ""])
def test_unknown_kinds_are_refused(name):
    with pytest.raises(ParameterError, match="cannot be read"):
        known_suffix(name)


def test_the_file_gets_a_name_of_ours_that_only_we_may_read(settings, tmp_path):
    path = asyncio.run(receive(settings, tmp_path, "../../evil.csv", _chunks(b"a,b\n", b"1,2\n")))
    assert path.parent == tmp_path / "incoming"
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_is_too_large_or_empty_leaves_nothing(settings, tmp_path):
    small = settings.replace(largest_upload=10)
    with pytest.raises(TooManyError, match="too large"):
        asyncio.run(receive(small, tmp_path, "a.csv", _chunks(b"12345678", b"90123")))
    with pytest.raises(ReadError, match="empty"):
        asyncio.run(receive(small, tmp_path, "a.csv", _chunks()))
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_broken_connection_leaves_nothing(settings, tmp_path):
    async def broken():
        yield b"half"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asyncio.run(receive(settings, tmp_path, "a.csv", broken()))
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (200 * 2**20))
    with pytest.raises(ReadError, match="unpacks to far more"):
        check_unpacked_size(path)


def test_an_honest_workbook_passes(tmp_path):
    import polars as pl

    path = tmp_path / "book.xlsx"
    pl.DataFrame({"a": range(1000)}).write_excel(path)
    check_unpacked_size(path)


def test_a_place_is_given_back_whatever_happens():
    places = Places(1)
    with places.one(), pytest.raises(TooManyError, match="too many files"), places.one():
        pass
    with pytest.raises(ZeroDivisionError), places.one():
        raise ZeroDivisionError
    assert places.taken == 0


@pytest.mark.parametrize("announced", [None, "", "-5", "10", "abc", "1e9"])
def test_only_an_announced_size_that_is_too_large_is_refused(settings, announced):
    check_announced(settings.replace(largest_upload=10), announced)


def test_a_size_that_is_too_large_is_refused_before_it_comes(settings):
    with pytest.raises(TooManyError, match="too large"):
        check_announced(settings.replace(largest_upload=10), "11")
