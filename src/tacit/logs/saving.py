"""Writing a protected query log: ``public/`` for users, ``dossier/`` for the house.

===========================  ==================================================
``public/log.txt[.gz]``      the protected log, in AOL's format
``public/NOTE.md``           what users may know about how it was protected
``dossier/manifest.json``    seed, parameters, counts, times, versions
``dossier/users.parquet``    who is who: identifier, pseudonym, group
``dossier/measurements.json``  every measurement, the attack among them
``dossier/report.html``      the report, one file
===========================  ==================================================
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tacit.core.atomic import new_file, new_folder
from tacit.core.bundle import DOSSIER, PUBLIC, versions
from tacit.core.errors import ProtectionError, ReadError, WriteError
from tacit.core.progress import track
from tacit.logs.reading import AOL

if TYPE_CHECKING:
    from tacit.logs.release import LogRelease

_USERS_AT_ONCE = 20_000


def save_release(release: LogRelease, folder: Path, *, force: bool, compress: bool) -> Path:
    """Write a release to `folder`, whole or not at all."""
    from tacit.logs._report import render

    if force:
        _check_replaceable(folder)
    measurements = release.measure()
    if not measurements[0].value >= release.method.k:  # not a number is no promise either
        raise ProtectionError(
            "the released log does not hide every user among k",
            got=measurements[0].text,
            do="report this as a bug",
        )
    with new_folder(folder, force=force) as scratch:
        public, dossier = scratch / PUBLIC, scratch / DOSSIER
        public.mkdir()
        dossier.mkdir(mode=0o700)  # it says who is who
        write_log(release, public / ("log.txt.gz" if compress else "log.txt"))
        (public / "NOTE.md").write_text(public_note(release), encoding="utf-8")
        release.truth.write_parquet(dossier / "users.parquet")
        taken = [m.as_dict() for m in measurements]
        for name, document in (("manifest", manifest(release)), ("measurements", taken)):
            text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
            (dossier / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        page = render(release, measurements)
        (dossier / "report.html").write_text(page, encoding="utf-8")
    return folder


def write_log(release: LogRelease, path: Path) -> None:
    """Write the released lines in AOL's format, some users at a time."""
    users = release.truth
    with _opened(path) as handle, track("writing the log", len(users)) as advance:
        for start in range(0, len(users), _USERS_AT_ONCE):
            part = users.slice(start, _USERS_AT_ONCE)
            _write_lines(release.of_users(part), handle, header=start == 0)
            advance(len(part))


def write_frame(frame: Any, path: Path) -> None:
    """Write a frame with the columns ``user``, ``query``, ... in AOL's format, whole or not."""
    with new_file(path) as scratch, _opened(scratch) as handle:
        _write_lines(frame, handle, header=True)


def _write_lines(frame: Any, handle: IO[bytes], *, header: bool) -> None:
    import polars as pl

    _in_aol_columns(frame, pl).write_csv(
        handle,
        separator="\t",
        quote_style="never",
        include_header=header,
        datetime_format="%Y-%m-%d %H:%M:%S",
    )


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wb") as handle:
        yield handle  # type: ignore[misc]


def _in_aol_columns(frame: Any, pl: Any) -> Any:
    """Name the columns as AOL does; what was left out is empty, and no value breaks a line."""
    columns = []
    for part, name in AOL.items():
        column = pl.col(part) if part in frame.columns else pl.lit("")
        if part in ("query", "url") and part in frame.columns:
            column = _harmless(column.cast(pl.String))
        columns.append(column.alias(name))
    return frame.select(columns)


def _harmless(text: Any) -> Any:
    """Keep a value on its line, and from being taken for a formula by a spreadsheet.

    Anybody can type a query, control characters and ``=HYPERLINK(...)`` among them. A space in
    front makes a formula plain text; `tacit.logs.read` strips it.
    """
    one_line = text.str.replace_all(r"[\p{Cc}\x{2028}\x{2029}]+", " ")
    return one_line.str.replace(r"^[=+@-]", " ${0}")


def manifest(release: LogRelease) -> dict[str, Any]:
    """Return what repeats and explains a release, as plain data."""
    cleaning = release.cleaning
    return {
        "format": 1,
        "kind": "query log",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": str(release.seed),
        "source": release.original.source,
        "method": release.method.model_dump(mode="json"),
        "cleaning": None if cleaning is None else cleaning.model_dump(mode="json"),
        "taxonomy": str(release.taxonomy),
        "matcher": None if release.taxonomy.matcher is None else repr(release.taxonomy.matcher),
        "removed": {
            reason: {"queries": queries, "lines": lines}
            for reason, (queries, lines) in release.cleaned.removed.items()
        },
        "counts": counts(release),
        "seconds": {name: round(value, 3) for name, value in release.seconds.items()},
        "versions": versions(),
    }


def counts(release: LogRelease) -> dict[str, int]:
    """Return the sizes of the log before and after."""
    return {
        "lines_read": release.original.n_lines,
        "lines_left_out_in_reading": release.original.n_left_out,
        "users_read": release.original.n_users,
        "lines_removed_in_cleaning": release.cleaned.n_lines_removed,
        "users_lost_in_cleaning": release.cleaned.n_users_lost,
        "groups": release.n_groups,
        "users_released": release.n_released_users,
        "lines_released": release.n_released_lines,
    }


def public_note(release: LogRelease) -> str:
    """Say what users of the log may know."""
    details = "Times and addresses" if release.cleaned.log.details.width else "Only queries"
    said = (
        "are coarser than they were."
        if details.startswith("Times")
        else "are released; times, ranks and clicked addresses were left out."
    )
    return (
        "# About this query log\n\n"
        "Users are numbered at random. Queries that point at a person and queries of very few "
        "users were removed where the publisher asked for it. Users with similar interests share "
        f"one log: at least {release.method.k} users always have exactly the same lines. A line "
        f"under a number is therefore not what one person asked. {details} {said}\n"
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a saved release."""
    path = folder / DOSSIER / "manifest.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(
            "this is not the folder of a protected query log",
            got=str(folder),
            do="give the folder that tacit logs anonymize wrote",
        ) from error
    if not isinstance(document, dict) or document.get("kind") != "query log":
        raise ReadError("this is not the folder of a protected query log", got=str(folder))
    return document


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
