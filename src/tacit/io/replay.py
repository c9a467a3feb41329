"""Replay a dossier: make the release again and compare it, byte by byte."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.core.bundle import DOSSIER, PUBLIC, copy_of, input_digest, read_manifest, versions
from tacit.core.data import Microdata
from tacit.core.digest import file_digest
from tacit.core.engine import collecting_at_most
from tacit.core.errors import ReplayError, TacitError
from tacit.core.method import find
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.core.schema import Schema
from tacit.io._streamed_replay import differing_columns, is_streamed, reopened, write_streamed
from tacit.io.beyond_memory import values_within
from tacit.io.files import is_url
from tacit.io.read import read


@dataclass(frozen=True)
class ReplayResult:
    """A release that was made again, bit for bit."""

    dossier: Path
    """The dossier that was replayed."""
    release: Release
    """The release, made again."""
    digest: str
    """SHA-256 of the released file, then and now."""
    other_versions: Mapping[str, tuple[str, str]]
    """Packages whose version differs, with the version then and now."""

    reproduced = True

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "reproduced": self.reproduced,
            "dossier": str(self.dossier),
            "records": self.release.data.n_records,
            "digest": self.digest,
            "other_versions": {name: list(pair) for name, pair in self.other_versions.items()},
        }

    def __str__(self) -> str:
        return (
            f"reproduced bit for bit: {self.release.data.n_records:,} records, "
            f"SHA-256 {self.digest}"
        )


def replay(dossier: str | Path, data: Any = None, *, memory: str = "2GB") -> ReplayResult:
    """Make the release of a dossier again and check that it is the same, bit for bit.

    Parameters
    ----------
    dossier
        The folder ``dossier/`` of a saved release, or the folder above it.
    data
        The original data, as a path or frame, where they are no longer where they were read.
    memory
        Memory to stay within where the release was made of data beyond memory.

    Returns
    -------
    ReplayResult
        Says that the release was reproduced; anything else is a `ReplayError`.
    """
    folder = _dossier_in(Path(dossier))
    manifest = read_manifest(folder)
    _check_public(folder, manifest["output"])
    with _bounded(manifest, memory):
        original = _original(folder, manifest, data, memory)
        release = _made_again(folder, manifest, original)
        other = _other_versions(manifest)
        digest = _written(release, folder, manifest, other, memory)
    return ReplayResult(folder, release, digest, other)


def original_of(dossier: str | Path, data: Any = None, *, memory: str = "2GB") -> Microdata:
    """Return the original of a dossier in memory, checked to be the data that were protected.

    A public file beside the dossier that was changed after the release is refused as well: what
    the dossier says of its records would be said of others.
    """
    folder = _dossier_in(Path(dossier))
    manifest = read_manifest(folder)
    _check_public(folder, manifest["output"])
    recorded = manifest["input"]
    if not is_streamed(manifest) or recorded["digest"]:
        return _original(folder, manifest, data, memory).in_memory()
    # Data that came from an engine have no fingerprint to compare.
    source = _source(recorded, data)
    return read(source).with_schema(Schema.load(folder / "schema.toml"))


def _bounded(manifest: Mapping[str, Any], memory: str) -> AbstractContextManager[None]:
    return collecting_at_most(values_within(memory)) if is_streamed(manifest) else nullcontext()


def _made_again(folder: Path, manifest: Mapping[str, Any], original: Microdata) -> Release:
    try:
        return Plan.load(folder / "plan.toml").apply(
            original, seed=int(manifest["seed"]), blocks=manifest.get("blocks")
        )
    except TacitError as error:
        raise ReplayError(f"the plan no longer runs on the data: {error}") from error


def _dossier_in(folder: Path) -> Path:
    inside = folder / DOSSIER
    return inside if not (folder / "manifest.json").is_file() and inside.is_dir() else folder


def _check_public(folder: Path, output: Mapping[str, Any]) -> None:
    """Refuse a dossier whose public file, if it is there, is not the one that was released."""
    first = folder.parent / PUBLIC / output["file"]
    files = [first, *(copy_of(first, i) for i in range(2, 2 + len(_copies(output))))]
    for released, digest in zip(files, [output["digest"], *_copies(output)], strict=True):
        if released.is_file() and file_digest(released) != digest:
            raise ReplayError(
                "the released file was changed after the release",
                got=str(released),
                do="restore it; or move the dossier away from it to replay the release as it was, "
                "or attack or measure the file as it is, beside the original",
            )


def _copies(output: Mapping[str, Any]) -> list[str]:
    """Digests of the further data sets; dossiers of one data set may not mention them."""
    return list(output.get("copies", []))


def _original(folder: Path, manifest: Mapping[str, Any], data: Any, memory: str) -> Microdata:
    """Read the original again, as it was read then, and check that it is the same."""
    recorded = manifest["input"]
    source = _source(recorded, data)
    if is_streamed(manifest):
        return reopened(recorded, source, folder / "schema.toml", memory)
    try:
        original = read(source, **_reading(recorded.get("reading", {}), source))
        original = original.with_schema(Schema.load(folder / "schema.toml"))
    except TacitError as error:
        raise ReplayError(
            f"the original data cannot be read again: {error}",
            do="give the data where they are now, if they have moved",
        ) from error
    found = input_digest(original)
    if found != recorded["digest"]:
        raise ReplayError(
            "these are not the data that were protected",
            got=f"{original.n_records:,} records where there were {recorded['records']:,}"
            if original.n_records != recorded["records"]
            else "other values, types or order of records",
            do="find the data as they were" + (", in the order they had" if is_url(source) else ""),
        )
    return original


def _source(recorded: Mapping[str, Any], data: Any) -> Any:
    source = recorded["source"] if data is None else data
    if source is None:
        raise ReplayError(
            "the dossier does not say where the data came from",
            do="give the original data, as a path or a frame",
        )
    return source


def _reading(recorded: Mapping[str, Any], source: Any) -> dict[str, Any]:
    """Return the arguments of `read` that were used, as far as this kind of source takes them."""
    if is_url(source):
        wanted = ("table", "types")
    elif isinstance(source, str | Path):
        wanted = ("format", "types")
    else:
        return {"types": recorded.get("types")} if not isinstance(source, Microdata) else {}
    arguments = {name: recorded[name] for name in wanted if name in recorded}
    same_kind = ("table" in recorded) == is_url(source)
    return arguments | (recorded.get("options", {}) if same_kind else {})


def _other_versions(manifest: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    now = versions()
    then = manifest.get("versions", {})
    return {
        name: (then[name], now.get(name, "none"))
        for name in sorted(then)
        if then[name] != now.get(name)
    }


def _written(
    release: Release,
    folder: Path,
    manifest: Mapping[str, Any],
    other: Mapping[str, tuple[str, str]],
    memory: str,
) -> str:
    """Write the release as it was written then and return its digest if it is the same."""
    output = manifest["output"]
    with tempfile.TemporaryDirectory(prefix="tacit-replay-") as scratch:
        again = Path(scratch) / output["file"]
        writer = find(output["format"], "format")()
        if is_streamed(manifest):
            write_streamed(release.data, again, output["format"])
        else:
            writer.write(release.data, again)  # type: ignore[attr-defined]
        digest = file_digest(again)
        if digest == output["digest"] and _same_copies(release, again, writer, output):
            return digest
        released = folder.parent / PUBLIC / output["file"]
        what = _difference(writer, released, again, release, manifest, memory)
    changed = "; ".join(f"{name} was {a}, is {b}" for name, (a, b) in other.items())
    raise ReplayError(
        f"the release was not reproduced: {what}",
        got=changed or "the same versions of all packages",
        do="install the versions of the dossier and replay again" if changed else None,
    )


def _same_copies(release: Release, again: Path, writer: Any, output: Mapping[str, Any]) -> bool:
    """Whether the further data sets are the same, too."""
    found = []
    for number, copy in enumerate(release.copies, 2):
        writer.write(copy, copy_of(again, number))
        found.append(file_digest(copy_of(again, number)))
    return found == _copies(output)


def _difference(
    writer: Any,
    released: Path,
    again: Path,
    release: Release,
    manifest: Mapping[str, Any],
    memory: str,
) -> str:
    """Say in words how two versions of a release differ."""
    n_records, output = release.data.n_records, manifest["output"]
    if n_records != output["records"]:
        return f"it has {n_records:,} records where there were {output['records']:,}"
    if not released.is_file():
        return "its bytes differ"
    if is_streamed(manifest):
        differ = differing_columns(released, again, output["format"], memory)
    else:
        differ = _differing(*(Microdata.of(writer.read(path)).local for path in (released, again)))
    if differ is None:
        return "its columns differ"
    return f"values differ in {', '.join(differ)}" if differ else "its bytes differ, its values not"


def _differing(before: Any, after: Any) -> list[str] | None:
    if before.columns != after.columns:
        return None
    return [name for name in before.columns if not before[name].equals(after[name])]
