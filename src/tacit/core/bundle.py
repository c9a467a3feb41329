"""The release bundle on disk: ``public/`` for users, ``dossier/`` for the house.

========================  =========================================================
``public/data.<format>``  the protected data
``public/data-2.<format>``  the second data set, where a release holds several; and so on
``public/NOTE.md``        what users may know about how the data were protected
``dossier/manifest.json`` seed, versions, digests of input and output, steps
``dossier/plan.toml``     the methods with their parameters
``dossier/schema.toml``   roles, kinds, hierarchies, constraints
``dossier/measurements.json``  every measurement
``dossier/records.parquet``    values per record, with the original record's number
``dossier/report.html``   the report, one file
========================  =========================================================
"""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.atomic import new_folder
from tacit.core.block_release import is_beyond_memory, save_streamed
from tacit.core.digest import file_digest, frame_digest
from tacit.core.errors import ParameterError, WriteError
from tacit.core.method import find, methods

if TYPE_CHECKING:
    from tacit.core.data import Microdata
    from tacit.core.measurement import Measurement
    from tacit.core.release import Release, Step
    from tacit.core.scorecard import Scorecard

PUBLIC, DOSSIER = "public", "dossier"
MANIFEST_FORMAT = 1
_REPLAYED = {
    "input": {"source", "records", "digest"},
    "output": {"file", "format", "records", "digest"},
}
"""Entries of the manifest that a replay uses."""
_OF_SIZES = ("simple", "proper")
"""Rules of inference that compare the sizes of a synthetic data set and of the original."""
_PACKAGES = ("tacit", "numpy", "polars", "narwhals", "numba", "scipy", "duckdb")


def save_bundle(release: Release, folder: Path, *, format: str, force: bool) -> Path:
    """Write a release to `folder`, whole or not at all."""
    if is_beyond_memory(release):
        return save_streamed(release, folder, format=format, force=force)
    writer = find(format, "format")()
    if force:
        _check_replaceable(folder)
    with new_folder(folder, force=force) as scratch:
        scorecard = release.measure()
        public, dossier = scratch / PUBLIC, scratch / DOSSIER
        public.mkdir()
        dossier.mkdir(mode=0o700)  # it holds the seed
        data = public / f"data{writer.suffixes[0]}"  # type: ignore[attr-defined]
        writer.write(release.data.drop([]), data)  # type: ignore[attr-defined]
        for number, copy in enumerate(release.copies, 2):
            writer.write(copy.drop([]), copy_of(data, number))  # type: ignore[attr-defined]
        (public / "NOTE.md").write_text(public_note(release), encoding="utf-8")
        _write_dossier(release, scorecard, dossier, data, format)
    return folder


def copy_of(data: Path, number: int) -> Path:
    """Return the file of a further data set: ``data-2.csv`` beside ``data.csv``."""
    return data.with_name(f"{data.stem}-{number}{data.suffix}")


def _check_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that is not a release: force must not delete other work."""
    if not folder.is_dir():
        return
    found = sorted(p.name for p in folder.iterdir())
    foreign = [name for name in found if name not in (PUBLIC, DOSSIER)]
    if found and not (folder / DOSSIER / "manifest.json").is_file():
        foreign = found
    if foreign:
        raise WriteError(
            "the output folder holds other files and will not be replaced",
            got=f"{folder} with {', '.join(foreign[:3])}",
            do="choose another folder",
        )


def _write_dossier(
    release: Release, scorecard: Scorecard, dossier: Path, data: Path, format: str
) -> None:
    manifest = _manifest(release, data, format)
    files = {
        "plan.toml": release.plan.to_toml(),
        "schema.toml": release.original.schema.to_toml(),
        "manifest.json": _json(manifest),
        "measurements.json": _json(scorecard.as_dict()),
    }
    for document in methods("document"):
        page = document()
        files[page.filename] = page.render(release, scorecard)  # type: ignore[attr-defined]
    for name, text in files.items():
        (dossier / name).write_text(text, encoding="utf-8")
    records = dossier / "records.parquet"
    _per_record(release, scorecard).write_parquet(records)
    for number, copy in enumerate(release.each[1:], 2):
        _origins(copy).write_parquet(copy_of(records, number))


def _manifest(release: Release, data: Path, format: str) -> dict[str, Any]:
    copies = [file_digest(copy_of(data, i + 2)) for i in range(len(release.copies))]
    return manifest_of(
        release,
        given={"digest": input_digest(release.original)},
        made={"file": data.name, "format": format, "digest": file_digest(data), "copies": copies},
        broken=release.newly_broken,
    )


def manifest_of(
    release: Release, *, given: dict[str, Any], made: dict[str, Any], broken: dict[str, int]
) -> dict[str, Any]:
    """Return the manifest of a release from what its input and its output were."""
    blocks = {} if release.blocks is None else {"blocks": release.blocks}
    return {
        "format": MANIFEST_FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": str(release.seed),
        **blocks,
        "input": {
            "source": release.original.source,
            "reading": dict(release.original.reading),
            "records": release.original.n_records,
            **given,
        },
        "output": {"records": release.data.n_records, **made},
        "steps": [
            {
                "description": s.description,
                "seconds": round(s.seconds, 3),
                "records": s.n_records,
                "changed_values": dict(s.changed),
            }
            for s in release.steps
        ],
        "newly_broken_constraints": broken,
        "versions": versions(),
    }


def input_digest(original: Microdata) -> str:
    """Return the fingerprint of the original records that a replay checks."""
    return frame_digest(original.local.select(original.columns))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a release depends on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _per_record(release: Release, scorecard: Scorecard) -> Any:
    import polars as pl

    columns = {"original_record": release.rows}
    for measurement in scorecard.risks:
        values = _of_released_records(measurement, release)
        if values is not None:
            columns[measurement.key] = values
    return pl.DataFrame(columns)


def _origins(release: Release) -> Any:
    import polars as pl

    return pl.DataFrame({"original_record": release.rows})


def _of_released_records(measurement: Measurement, release: Release) -> np.ndarray | None:
    """Return the values of the released records, where the measure has values per record."""
    values, rows = measurement.per_unit, release.rows
    if values is None:
        return None
    if measurement.units == "released":
        return values if len(values) == len(rows) else None
    if len(values) != release.original.n_records:
        return None
    # An original unit's value goes with its record, wherever sampling or shuffling has put that.
    own = np.full(len(rows), np.nan)
    own[rows >= 0] = np.asarray(values, dtype=np.float64)[rows[rows >= 0]]
    return own


def public_note(release: Release) -> str:
    """Return what users of the release may know: what was done, never with what secret."""
    done = "\n".join(f"{i}. {_said_of(step)}" for i, step in enumerate(release.steps, 1))
    lines = [
        "# How these data were protected",
        "",
        f"{release.data.n_records:,} records, {len(release.data.columns)} variables.",
        "",
        "The following was done, in this order, to protect the people and businesses in the data:",
        "",
        done or "Nothing: the data are released as they are.",
        "",
        *_said_of_copies(release),
        "Values may therefore differ from the truth, and some may be missing. Do not try to find "
        "out who a record belongs to.",
        "",
    ]
    return "\n".join(lines)


def _said_of(step: Step) -> str:
    """Return what was done in a step, and which variables have other values since."""
    changed = [name for name, n_values in step.changed.items() if n_values]
    return step.public_note + (f" (changed: {', '.join(changed)})" if changed else "")


def _said_of_copies(release: Release) -> list[str]:
    """Say how to analyse synthetic data sets: as if they were real, results look too sure."""
    rules = {getattr(method, "combining", None) for method in release.plan.methods} - {None}
    rule = rules.pop() if len(rules) == 1 else None
    by = f" by the rule '{rule}'" if rule else ""
    if rule in _OF_SIZES:
        by += f" (`--records {_learnt_from(release)}`: the models were fitted to so many)"
    if release.copies:
        text = (
            f"The release holds {len(release.data_sets)} data sets, made alike. Analyse each of "
            f"them, and combine the results{by}; `tacit combine` does both. One alone hides how "
            "uncertain they are."
        )
    elif rule in _OF_SIZES:
        text = (
            f"Standard errors from this one data set are too small: `tacit combine` finds them{by}."
        )
    else:
        return []
    return [text, ""]


def _learnt_from(release: Release) -> int:
    """Return how many records the synthesis saw."""
    methods = release.plan.methods
    at = next(i for i, method in enumerate(methods) if hasattr(method, "combining"))
    steps = release.steps[-len(methods) :]
    return steps[at - 1].n_records if at else release.original.n_records


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_manifest(dossier: Path) -> dict[str, Any]:
    """Read the manifest of a dossier, or say what is wrong with it."""
    path = dossier / "manifest.json"
    if not path.is_file():
        of_tables = (dossier / "cells.parquet").is_file()
        raise ParameterError(
            "this is the dossier of tables, and not of records"
            if of_tables
            else "this is not a dossier: it has no manifest.json",
            got=str(dossier),
            do="attack it with tacit attack, or make the tables again with tacit table --plan"
            if of_tables
            else None,
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != MANIFEST_FORMAT:
            raise ParameterError("the dossier was written by another version of tacit")
        _check_entries(manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"the manifest is damaged: {path}") from error
    return dict(manifest)


def _check_entries(manifest: dict[str, Any]) -> None:
    """Raise unless every entry that a replay uses is there and is what it should be."""
    if not str(manifest["seed"]).isdecimal():
        raise ValueError("seed")
    for part, needed in _REPLAYED.items():
        missing = needed - manifest[part].keys()
        if missing:
            raise KeyError(min(missing))
    name = manifest["output"]["file"]
    # A replay writes a file of this name into a scratch folder: it must not lead out of there.
    if name in ("", ".", "..") or "/" in name or "\\" in name:
        raise ParameterError(
            "the manifest names an output file outside its folder",
            got=repr(name),
            do="do not trust this dossier",
        )
