"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacit.core import stopping
from tacit.core.errors import TacitError, WriteError


@contextmanager
def new_folder(target: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a scratch folder that becomes `target` when the block ends without an error.

    The scratch folder sits beside the target, so that the last step is one rename. Whatever goes
    wrong before it (an error, an interrupt, a full disk) leaves the target as it was.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link
    if os.path.exists(target) and not force:  # noqa: PTH110 - says no to a name that is too long
        raise WriteError(
            "the output folder exists already", got=str(target), do="choose another or use force"
        )
    if os.path.exists(target) and not target.is_dir():  # noqa: PTH110
        raise WriteError("the output path is a file, not a folder", got=str(target))
    parents = _missing_parents(target)
    scratch = _scratch_beside(target)
    try:
        yield scratch
        _sync(scratch)
        stopping.check()
        _swap_in(scratch, target)
    except Exception as error:
        fault = _fault_of_disc(error)
        if fault is None:
            raise
        raise WriteError(f"could not write {target}: {fault.strerror or fault}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        _remove_empty(parents)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a scratch path that replaces `target` when the block ends without an error."""
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link
    parents = _missing_parents(target)
    folder = _scratch_beside(target)
    scratch = folder / target.name
    try:
        yield scratch
        stopping.check()
        scratch.replace(target)
    except Exception as error:
        fault = _fault_of_disc(error)
        if fault is None:
            raise
        raise WriteError(f"could not write {target}: {fault.strerror or fault}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_empty(parents)


def _fault_of_disc(error: Exception) -> OSError | None:
    """Return the error of the system that a library may have wrapped in one of its own."""
    if isinstance(error, TacitError):
        return None
    if isinstance(error, OSError):
        return error
    told = re.search(r"\(os error (\d+)\)", str(error))  # Polars
    if told:
        return OSError(int(told[1]), os.strerror(int(told[1])))
    return next((inner for inner in error.args if isinstance(inner, OSError)), None)  # XlsxWriter


def write_text(target: Path, text: str) -> None:
    """Write a UTF-8 text file whole or not at all."""
    with new_file(target) as scratch:
        scratch.write_text(text, encoding="utf-8")


def _missing_parents(target: Path) -> list[Path]:
    """Return the folders that have to be made for `target`, innermost first."""
    return [parent for parent in target.parents if not parent.exists()]


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders made for an output that did not come; those that hold something stay."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _scratch_beside(target: Path) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    except OSError as error:
        raise WriteError(f"could not write {target}: {error.strerror or error}") from error


def _sync(folder: Path) -> None:
    """Push every file of the folder to the disk, so that a full disk shows before the rename."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as handle:
                os.fsync(handle.fileno())


def _swap_in(scratch: Path, target: Path) -> None:
    if not target.exists():
        scratch.rename(target)
        return
    retired = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
    try:
        target.rename(retired / "folder")
        scratch.rename(target)
    except BaseException:
        if not target.exists():
            (retired / "folder").rename(target)
        raise
    finally:
        shutil.rmtree(retired, ignore_errors=True)
