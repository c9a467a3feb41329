"""Files and folders appear whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from tacit.core import atomic
from tacit.core.atomic import new_file, new_folder, write_text
from tacit.core.errors import WriteError


def left(folder):
    """Return everything under a folder, hidden files too."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def full_disk(*_arguments, **_options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# -- folders --------------------------------------------------------------------------------------


def test_a_folder_appears_when_all_is_written(tmp_path):
    target = tmp_path / "deep" / "out"
    with new_folder(target) as scratch:
        (scratch / "a").mkdir()
        (scratch / "a" / "b.txt").write_text("x")
        assert not target.exists()
        assert scratch.parent == target.parent
    assert left(tmp_path) == ["deep", "deep/out", "deep/out/a", "deep/out/a/b.txt"]
    assert target.stat().st_mode & 0o755 == 0o755


def write_and_fail(context, name, problem):
    """Write half of the content inside a context, then raise."""
    with context as scratch:
        path = scratch / name if scratch.is_dir() else scratch
        path.write_text("half")
        raise problem


@pytest.mark.parametrize("problem", [ValueError("bad"), KeyboardInterrupt(), SystemExit(3)])
def test_nothing_is_left_when_something_goes_wrong(tmp_path, problem):
    with pytest.raises(type(problem)):
        write_and_fail(new_folder(tmp_path / "out"), "half.txt", problem)
    assert left(tmp_path) == []


@pytest.mark.parametrize("problem", [ValueError("bad"), KeyboardInterrupt()])
def test_the_old_folder_stays_when_something_goes_wrong(tmp_path, problem):
    target = tmp_path / "out"
    with new_folder(target) as scratch:
        (scratch / "old.txt").write_text("old")
    with pytest.raises(type(problem)):
        write_and_fail(new_folder(target, force=True), "new.txt", problem)
    assert left(tmp_path) == ["out", "out/old.txt"]
    assert (target / "old.txt").read_text() == "old"


def test_a_full_disk_while_writing(tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(WriteError, match="No space left on device"):
        write_and_fail(new_folder(tmp_path / "out"), "half.txt", full)
    assert left(tmp_path) == []


class WrappedError(Exception):
    """What a library makes of an error of the system."""


@pytest.mark.parametrize("context", [new_folder, new_file])
@pytest.mark.parametrize(
    "wrapped",
    [
        WrappedError(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))),  # as XlsxWriter does
        WrappedError("parquet: underlying IO error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_that_a_library_reports_in_its_own_way(tmp_path, context, wrapped):
    with pytest.raises(WriteError, match="No space left on device"):
        write_and_fail(context(tmp_path / "out"), "half.txt", wrapped)
    assert left(tmp_path) == []


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(WriteError, match="too long"), new_folder(tmp_path / ("a" * 300)):
        raise AssertionError("the block must not run")


def test_a_full_disk_that_shows_only_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic.os, "fsync", full_disk)
    with pytest.raises(WriteError, match="No space left"), new_folder(tmp_path / "out") as scratch:
        (scratch / "a.txt").write_text("x")
    assert left(tmp_path) == []


@pytest.mark.parametrize("problem", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", [1, 2])
def test_the_old_folder_comes_back_if_the_swap_fails(tmp_path, monkeypatch, problem, moment):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old.txt").write_text("old")
    rename, calls = Path.rename, []

    def failing(self, other):
        calls.append(other)
        if len(calls) == moment:
            raise problem
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((WriteError, KeyboardInterrupt)), new_folder(target, force=True) as scratch:
        (scratch / "new.txt").write_text("new")
    assert left(tmp_path) == ["out", "out/old.txt"]


def test_existing_folders_are_refused_unless_forced(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old.txt").write_text("old")
    with pytest.raises(WriteError, match=r"exists already .*use force"), new_folder(target):
        raise AssertionError("the block must not run")
    with new_folder(target, force=True) as scratch:
        (scratch / "new.txt").write_text("new")
    assert left(tmp_path) == ["out", "out/new.txt"]


def test_a_file_in_the_way_is_never_replaced_by_a_folder(tmp_path):
    target = tmp_path / "out"
    target.write_text("precious")
    with pytest.raises(WriteError, match="is a file"), new_folder(target, force=True):
        raise AssertionError("the block must not run")
    assert target.read_text() == "precious"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match="could not write"), new_folder(tmp_path / "file" / "out"):
        raise AssertionError("the block must not run")


def test_our_own_errors_pass_unchanged(tmp_path):
    with pytest.raises(WriteError, match=r"^mine$"), new_folder(tmp_path / "out"):
        raise WriteError("mine")
    with pytest.raises(WriteError, match=r"^mine$"), new_file(tmp_path / "out"):
        raise WriteError("mine")


# -- files ----------------------------------------------------------------------------------------


def test_a_file_appears_when_all_is_written(tmp_path):
    target = tmp_path / "deep" / "out.txt"
    with new_file(target) as scratch:
        scratch.write_text("x")
        assert not target.exists()
        assert scratch.name == target.name
    assert left(tmp_path) == ["deep", "deep/out.txt"]


@pytest.mark.parametrize(
    "problem", [ValueError("bad"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")]
)
def test_the_old_file_stays_when_something_goes_wrong(tmp_path, problem):
    target = tmp_path / "out.txt"
    target.write_text("old")
    expected = WriteError if isinstance(problem, OSError) else type(problem)
    with pytest.raises(expected):
        write_and_fail(new_file(target), "", problem)
    assert target.read_text() == "old"
    assert left(tmp_path) == ["out.txt"]


def test_text_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "out.txt"
    write_text(target, "Größe 🙂\n")
    assert target.read_bytes() == "Größe 🙂\n".encode()

    def half(self, text, **_options):
        self.write_bytes(text.encode()[:3])
        full_disk()

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(WriteError, match="No space left on device"):
        write_text(target, "something longer")
    assert target.read_bytes() == "Größe 🙂\n".encode()
    assert left(tmp_path) == ["out.txt"]


def test_a_folder_in_the_way_of_a_file(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(WriteError, match="could not write"):
        write_text(tmp_path / "out", "x")
    assert left(tmp_path) == ["out"]


def test_relative_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text(Path("a/../b.txt"), "x")
    assert (tmp_path / "b.txt").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(WriteError, match="Permission denied"):
            write_text(tmp_path / "a.txt", "x")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("writing", [new_folder, new_file])
def test_folders_made_for_an_output_that_failed_are_removed(tmp_path, writing):
    (tmp_path / "kept").mkdir()
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "kept" / "a" / "b" / "out"):
        raise KeyboardInterrupt
    assert left(tmp_path) == ["kept"]
    assert left(tmp_path / "kept") == []


def test_folders_made_for_an_output_that_came_stay(tmp_path):
    write_text(tmp_path / "a" / "b" / "out.txt", "x")
    assert (tmp_path / "a" / "b" / "out.txt").read_text() == "x"


def test_a_folder_that_somebody_else_used_meanwhile_stays(tmp_path):
    def fail():
        (tmp_path / "a" / "other.txt").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "a" / "b" / "out"):
        fail()
    assert left(tmp_path / "a") == ["other.txt"]
