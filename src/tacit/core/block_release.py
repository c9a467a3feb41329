"""A release beyond memory: measured in the engine and on a sample, written as it streams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from tacit.core.atomic import new_folder
from tacit.core.data import ROW, Microdata
from tacit.core.digest import file_digest
from tacit.core.engine import collect_limit
from tacit.core.errors import TacitError, WriteError
from tacit.core.families import Measure
from tacit.core.measurement import Measurement
from tacit.core.method import methods
from tacit.core.scorecard import Scorecard

if TYPE_CHECKING:
    from tacit.core.release import Release

_SAMPLED = 50_000
"""Records on which utility is measured and the report is drawn."""
FILE_DIGEST = "file:"
"""Before the fingerprint of a file; those of records in memory have nothing before them."""
_WRITERS = {"parquet": "data.parquet", "csv": "data.csv"}
_NEEDS_ALL = "it needs all records in memory; measure a part of them, or recode the keys first"


def is_beyond_memory(release: Release) -> bool:
    """Whether a release was made in blocks and has more values than may be collected."""
    data = release.data
    if release.blocks is None or data.lazy.implementation is nw.Implementation.POLARS:
        return False
    return release.original.n_records * len(data.columns) > collect_limit()


def sampled(release: Release) -> Release:
    """Return a release in memory of some of the records, with their originals."""
    import polars as pl

    most = min(_SAMPLED, collect_limit() // (2 * (len(release.original.columns) + 1)))
    share = -(-release.original.n_records // max(most, 1))
    before, after = (_every(side, share) for side in (release.original, release.data))
    numbers = pl.DataFrame({ROW: before.local[ROW], "at": range(before.local.height)})
    placed = after.local.join(numbers, on=ROW, how="left", maintain_order="left")
    rows = placed["at"].cast(pl.Int64).alias(ROW)
    data = after._holding(after.local.with_columns(rows), after.schema)
    original = before._holding(before.local.drop(ROW), before.schema)
    return replace(release, original=original, data=data, blocks=None)


def _every(data: Microdata, share: int) -> Microdata:
    """Return the records whose number is a multiple of `share`, in memory and in order."""
    lazy = data.lazy.filter(nw.col(ROW) % share == 0)
    return replace(data, lazy=lazy).in_memory().sorted_by_number()


def measured(release: Release, part: Release | None = None) -> Scorecard:
    """Measure risk where the records are, and utility on a sample of them."""
    part = sampled(release) if part is None else part
    risks: list[Measurement] = []
    before: dict[str, Measurement] = {}
    left_out: dict[str, str] = {}
    for measure in _defaults("risk"):
        objection = measure.objection(release.original)
        if objection is None and measure.at_scale != "native":
            objection = _NEEDS_ALL
        if objection is None:
            try:
                risks.append(measure.measure(release.original, release))
                before[measure.key] = measure.measure(release.original)
            except TacitError as error:
                objection = str(error)
        if objection is not None:
            left_out[measure.key] = objection
    card = part.measure(_defaults("utility"))
    note = f"Measured on a sample of {part.original.n_records:,} records."
    utilities = tuple(replace(m, warnings=(*m.warnings, note)) for m in card.utilities)
    return Scorecard(tuple(risks), utilities, before, left_out | card.left_out)


def _defaults(family: str) -> list[Measure]:
    return [m() for m in methods(family) if issubclass(m, Measure) and m.default]


def save_streamed(release: Release, folder: Path, *, format: str, force: bool) -> Path:
    """Write the bundle of a release beyond memory, whole or not at all."""
    from tacit.core import bundle

    if format not in _WRITERS or release.data.lazy.implementation is not nw.Implementation.DUCKDB:
        raise WriteError(
            "a release beyond memory is written by its engine",
            got=f"format {format}, {release.data.lazy.implementation}",
            do="use format='parquet'; with Spark, release.frame.write.parquet(folder)",
        )
    if force:
        bundle._check_replaceable(folder)
    with new_folder(folder, force=force) as scratch:
        public, dossier = scratch / bundle.PUBLIC, scratch / bundle.DOSSIER
        public.mkdir()
        dossier.mkdir(mode=0o700)  # it holds the seed
        path = public / _WRITERS[format]
        stream(release.data, path, format)
        (public / "NOTE.md").write_text(bundle.public_note(release), encoding="utf-8")
        _write_dossier(release, dossier, path, format)
    return folder


def stream(data: Microdata, path: Path, format: str) -> None:
    """Let DuckDB stream the records to a file, in the order of the original."""
    visible = data.lazy.sort(ROW).select(data.columns).to_native()
    if format == "csv":
        visible.write_csv(str(path))
    else:
        visible.write_parquet(str(path), compression="zstd")


def _write_dossier(release: Release, dossier: Path, path: Path, format: str) -> None:
    from tacit.core import bundle

    part = sampled(release)
    card = measured(release, part)
    files = {
        "plan.toml": release.plan.to_toml(),
        "schema.toml": release.original.schema.to_toml(),
        "manifest.json": bundle._json(_manifest(release, path, format)),
        "measurements.json": bundle._json(card.as_dict()),
    }
    for document in methods("document"):
        page = document()
        files[page.filename] = page.render(part, card)  # type: ignore[attr-defined]
    for name, text in files.items():
        (dossier / name).write_text(text, encoding="utf-8")


def _manifest(release: Release, path: Path, format: str) -> dict[str, Any]:
    from tacit.core import bundle

    source = release.original.source
    is_file = source is not None and Path(source).is_file()
    return bundle.manifest_of(
        release,
        given={"digest": FILE_DIGEST + file_digest(Path(str(source))) if is_file else ""},
        made={"file": path.name, "format": format, "digest": file_digest(path), "copies": []},
        broken=_newly_broken(release),
    )


def _newly_broken(release: Release) -> dict[str, int]:
    """Count, for each edit rule, how many more records break it than did before."""
    before = release.original.broken_constraints()
    after = release.data.broken_constraints()
    more = {rule: n - before.get(rule, 0) for rule, n in after.items()}
    return {rule: n for rule, n in more.items() if n > 0}
